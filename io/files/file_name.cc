// Which names may become a part of a path.
//
//   name_problem("liver_03")   // ""
//   name_problem("../x")       // "leads to another folder"
#include "io/files/file_name.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "libcore/base/error.h"

namespace voxshard {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kMostShown = 80;

bool is_control(char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7f; }

/// What is no UTF-8 cannot stand in JSON, so it would come back as another name.
bool is_utf8(std::string_view name) {
  try {
    static_cast<void>(nlohmann::json(std::string(name)).dump());
    return true;
  } catch (const nlohmann::json::exception&) {
    return false;
  }
}

Error name_error(std::string_view name, const std::string& problem) {
  return Error(
      ErrorKind::kInput, "E_NAME",
      "[name] \"" + shown_name(name) + "\" " + problem + "; expected one plain file name such as liver_03: rename it");
}

}  // namespace

std::string name_problem(std::string_view name, std::size_t most_bytes) {
  if (name.empty()) return "is empty";
  if (name.find_first_of("/\\") != std::string_view::npos || name == "." || name == "..")
    return "leads to another folder";
  if (name.front() == '.') return "begins with a dot, as hidden and temporary files do";
  if (std::any_of(name.begin(), name.end(), is_control)) return "holds a control character";
  if (name.size() > most_bytes) return "has more than " + std::to_string(most_bytes) + " bytes";
  if (!is_utf8(name)) return "is no UTF-8";
  return "";
}

std::string relative_path_problem(std::string_view path, std::size_t most_bytes) {
  if (path.empty()) return "is empty";
  if (path.front() == '/') return "is absolute";
  for (std::size_t begin = 0; begin <= path.size();) {
    const std::size_t end = std::min(path.find('/', begin), path.size());
    const std::string_view part = path.substr(begin, end - begin);
    if (const std::string problem = part == "." ? "" : name_problem(part, most_bytes); !problem.empty()) return problem;
    begin = end + 1;
  }
  return "";
}

std::string shown_name(std::string_view name) {
  std::string text;
  const bool readable = is_utf8(name);
  for (const char c : name) {
    if (text.size() >= kMostShown) return text + "...";
    if (is_control(c) || (!readable && static_cast<unsigned char>(c) >= 0x80)) {
      constexpr char kDigits[] = "0123456789abcdef";
      const auto byte = static_cast<unsigned char>(c);
      text += {'\\', 'x', kDigits[byte >> 4], kDigits[byte & 15]};
    } else {
      text += c;
    }
  }
  return text;
}

fs::path named_file(const fs::path& folder, const std::string& name, std::string_view ending) {
  if (const std::string problem = name_problem(name); !problem.empty()) throw name_error(name, problem);
  return folder / (name + std::string(ending));
}

fs::path named_path(const fs::path& folder, const std::string& path) {
  if (const std::string problem = relative_path_problem(path); !problem.empty())
    throw Error(ErrorKind::kInput, "E_NAME",
                "[name] \"" + shown_name(path) + "\" " + problem + "; expected plain names below " + folder.string());
  return folder / path;
}

}  // namespace voxshard
