// The files in a folder, for tests that compare two folders.
//
//   EXPECT_EQ(differing_file(folder, other), "");
#pragma once

#include <map>
#include <regex>
#include <string>

#include "tests/scratch_folder.h"

namespace voxshard::test {

/// Returns the files of a folder by name, without what differs between any two runs of `prepare`: times, and the
/// folder's name.
inline std::map<std::string, std::string> files_of(const std::filesystem::path& folder) {
  std::map<std::string, std::string> files;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(folder)) {
    const std::string name = std::filesystem::relative(entry.path(), folder).string();
    if (!entry.is_regular_file() || name == ".voxshard.lock") continue;
    std::string bytes = read_bytes(entry.path());
    if (name == "manifest.jsonl") bytes = std::regex_replace(bytes, std::regex("\"time_ns\":[0-9]+"), "");
    if (name == "run.json") bytes = std::regex_replace(bytes, std::regex("\"(seconds|work)\": [^\n]*"), "");
    files[name] = bytes;
  }
  return files;
}

/// Returns the first file that only one of two folders has, or that differs; empty when there is none.
inline std::string differing_file(const std::filesystem::path& one, const std::filesystem::path& other) {
  const auto a = files_of(one), b = files_of(other);
  for (const auto& [name, bytes] : a)
    if (!b.contains(name) || b.at(name) != bytes) return name;
  for (const auto& [name, bytes] : b)
    if (!a.contains(name)) return name;
  return a.empty() ? "nothing is there" : "";
}

}  // namespace voxshard::test
