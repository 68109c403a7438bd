#include "io/files/json_lines.h"

#include <cstring>

#include "io/files/file_error.h"
#include "io/files/structured_text.h"

namespace voxshard {
namespace {

/// Limits of one line: a list of numbers for each of some thousand classes is the longest that is written.
constexpr TextLimits kLineLimits{.bytes = JsonLines::kMostLineBytes, .depth = 8, .values = 100'000};

}  // namespace

JsonLines::JsonLines(const std::filesystem::path& path, const JsonLinesPart& part) : path_(path), in_(path) {
  if (!in_) throw input_error(path, in_.problem(), "check the path and its permissions");
  if (part.last_bytes <= 0 || in_.bytes() <= part.last_bytes) return;
  in_.seekg(in_.bytes() - part.last_bytes - 1);  // a newline just before these bytes begins a line with them
  read_line();
}

bool JsonLines::read_line() {
  line_.clear(), too_long_ = false;
  char buffer[4096];
  while (in_.getline(buffer, sizeof buffer) || in_.gcount() > 0) {
    const bool whole = in_.good();  // neither cut by the end of the file nor by that of the buffer
    const auto bytes = static_cast<std::size_t>(whole ? in_.gcount() - 1 : in_.gcount());
    too_long_ = too_long_ || line_.size() + bytes > static_cast<std::size_t>(kMostLineBytes);
    if (too_long_)
      line_.clear();
    else
      line_.append(buffer, bytes);
    if (whole) return true;
    if (in_.eof() || in_.bad()) break;
    in_.clear();  // the buffer was full: the line goes on
  }
  torn_ = torn_ || !line_.empty() || too_long_;
  return false;
}

std::optional<nlohmann::json> JsonLines::parsed() const {
  if (!line_.starts_with('{')) return std::nullopt;
  try {
    return parse_json(line_, {.path = path_, .limits = kLineLimits});
  } catch (const Error& e) {
    if (e.kind() != ErrorKind::kInput) throw;
    return std::nullopt;
  }
}

std::optional<nlohmann::json> JsonLines::next() {
  while (read_line()) {
    if (auto object = parsed()) return object;
    if (++damaged_ > kMostDamaged)
      throw input_error(path_, "has more than " + std::to_string(kMostDamaged) + " lines that are no JSON objects",
                        "is it the file that was meant? Move it away", "E_SYNTAX");
  }
  return std::nullopt;
}

std::string json_line(const nlohmann::ordered_json& object) {
  return object.dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace) + "\n";
}

void append_json_line(const std::filesystem::path& path, const nlohmann::ordered_json& object) {
  if (const int reason = append_to_file(path, json_line(object), false, true); reason != 0)
    throw output_error(path, std::strerror(reason), "check that the folder exists, is writable and has space");
}

}  // namespace voxshard
