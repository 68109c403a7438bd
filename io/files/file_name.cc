// Checks of names before they become a part of a path.
//
//   name_problem("liver_03")   // ""
//   name_problem("../x")       // "leads to another folder"
#include "io/files/file_name.h"

#include <algorithm>

#include "libcore/base/error.h"
#include "libcore/base/plain_text.h"

namespace voxshard {
namespace {

namespace fs = std::filesystem;

/// Returns true for valid UTF-8; JSON would change any other name.
bool is_utf8(std::string_view name) {
  std::size_t at = 0;
  for (std::size_t bytes = 1; at < name.size() && bytes > 0; at += bytes) bytes = character_bytes(name.substr(at));
  return at == name.size();
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
  if (name.size() > most_bytes) return "has more than " + std::to_string(most_bytes) + " bytes";
  return text_problem(name);
}

std::string text_problem(std::string_view text) {
  if (!is_utf8(text)) return "is no UTF-8";
  return find_steering(text) == std::string_view::npos ? "" : "holds a control character";
}

void require_utf8_name(std::string_view name) {
  if (!is_utf8(name))
    throw Error(ErrorKind::kInput, "E_NAME", "[name] \"" + shown_name(name) + "\" is no UTF-8; rename it");
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

std::string shown_name(std::string_view name, std::size_t most_bytes) {
  const std::string text = plain_text(name);
  if (text.size() <= most_bytes) return text;
  std::size_t end = 0;
  while (end < most_bytes) end += character_bytes(std::string_view(text).substr(end));
  return text.substr(0, end) + "...";
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

bool lies_in(const fs::path& path, const fs::path& folder) {
  const auto resolved = [](const fs::path& of) {  // also of what is not there yet
    std::error_code error;
    fs::path whole = fs::weakly_canonical(fs::absolute(of), error);
    if (error) whole = fs::absolute(of).lexically_normal();
    return whole.has_filename() ? whole : whole.parent_path();  // "out/" is out
  };
  const fs::path within = resolved(folder);
  std::error_code error;
  for (fs::path at = resolved(path);; at = at.parent_path()) {
    if (at == within || (fs::equivalent(at, folder, error) && !error)) return true;
    if (at == at.parent_path()) return false;
  }
}

}  // namespace voxshard
