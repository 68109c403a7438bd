// Files of JSON lines, one object a line, that grow while others read them. A process that is killed may leave a torn
// last line: only lines that end with a newline are read. Bytes are not trusted: lines that are no object are left out
// and counted.
//
//   JsonLines lines("run/metrics.jsonl", {.last_bytes = 4 << 20});
//   while (const auto line = lines.next()) use(line->value("step", 0));
//   append_json_line("run/metrics.jsonl", {{"step", 7}});
#pragma once

#include <cstdint>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>

#include "io/files/open_file.h"

namespace voxshard {

struct JsonLinesPart {
  std::int64_t last_bytes = 0;  // the lines that lie wholly in so many last bytes; 0: all
};

class JsonLines {
 public:
  static constexpr std::int64_t kMostLineBytes = 1 << 20;  // longer lines are left out
  static constexpr std::int64_t kMostDamaged = 1000;       // lines that are left out, before the file is refused

  /// Errors: kInput when the file cannot be read.
  explicit JsonLines(const std::filesystem::path& path, const JsonLinesPart& part = {});

  /// Returns the next line; none at the end. Memory: one line. Errors: kInput E_SYNTAX after more than kMostDamaged
  /// lines that are no objects: this is another file.
  std::optional<nlohmann::json> next();
  /// The bytes of the line that next() returned last, without the newline.
  const std::string& text() const { return line_; }

  /// The number of lines that were left out so far.
  std::int64_t damaged() const { return damaged_; }
  /// True at the end of a file whose last line has no newline.
  bool torn() const { return torn_; }

 private:
  /// Reads the next line that ends with a newline into line_. A line over kMostLineBytes becomes empty.
  bool read_line();
  std::optional<nlohmann::json> parsed() const;

  std::filesystem::path path_;
  InputFile in_;
  std::string line_;
  std::int64_t damaged_ = 0;
  bool torn_ = false, too_long_ = false;
};

/// Returns the line with its newline. Text that is no UTF-8 is replaced.
std::string json_line(const nlohmann::ordered_json& object);

/// Appends a line with one call to the system; creates the file. Errors: kOutput; the file is then as it was.
void append_json_line(const std::filesystem::path& path, const nlohmann::ordered_json& object);

}  // namespace voxshard
