// Files to one JSON value, through io/files/structured_text.h.
//
//   read_config("train.toml")["train"]["epochs"]
#include "io/files/config_file.h"

#include <sstream>

namespace voxshard {

namespace fs = std::filesystem;
using nlohmann::json;

json read_config(const fs::path& path) {
  const TextSource source{.path = path, .kind = ErrorKind::kConfig, .tag = "[config] ", .limits = kConfigLimits};
  if (path.extension() == ".toml") return parse_toml(read_text(source), source);
  if (path.extension() == ".json") return parse_json(read_text(source), source);
  if (path.extension() == ".yaml" || path.extension() == ".yml") return parse_yaml(read_text(source), source);
  throw Error(ErrorKind::kConfig,
              "[config] " + path.string() + ": expected a name that ends in .toml, .json, .yaml or .yml");
}

std::string config_line(const fs::path& path, const std::string& word) {
  std::istringstream in(
      read_text({.path = path, .kind = ErrorKind::kConfig, .tag = "[config] ", .limits = kConfigLimits}));
  for (std::string line; std::getline(in, line);)
    if (line.find(word) != std::string::npos) return line;
  return {};
}

json read_json(const fs::path& path, const JsonReading& reading) {
  const TextSource source{.path = path, .limits = reading.limits};
  std::string text = read_text(source);
  if (reading.mend) reading.mend(text);
  return parse_json(text, source, reading.left_out);
}

}  // namespace voxshard
