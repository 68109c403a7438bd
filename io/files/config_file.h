// Configuration files: TOML (.toml), JSON (.json) or YAML (.yaml, .yml) to one JSON value, so that the rest of the
// program knows one form. Dates and times in TOML become strings.
//
//   nlohmann::json config = read_config("train.toml");
//   int epochs = config.at("train").value("epochs", 100);
#pragma once

#include <filesystem>
#include <functional>
#include <nlohmann/json.hpp>
#include <string>

#include "io/files/structured_text.h"

namespace voxshard {

/// Reads a configuration file. Errors: kConfig "train.toml:12:5: …" with file, line and column; kConfig too when the
/// file is missing, has another ending or exceeds kConfigLimits.
nlohmann::json read_config(const std::filesystem::path& path);

/// The first line of a text file with `word` in it, for messages; empty when there is none.
std::string config_line(const std::filesystem::path& path, const std::string& word);

/// Options for reading a JSON file that another program wrote.
struct JsonReading {
  std::function<void(std::string&)> mend;  // changes the text before it is parsed; lines must stay
  std::string left_out;                    // the name whose values are dropped, as in parse_json
  TextLimits limits = kDataLimits;
};

/// Reads a JSON file that is data, not configuration. Errors: kInput with file and line, also for a file that exceeds
/// the limits.
nlohmann::json read_json(const std::filesystem::path& path, const JsonReading& reading = {});

}  // namespace voxshard
