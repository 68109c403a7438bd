// Access to the kernel's files about this process and its machine, and to the environment. Tests use it to put a tree
// of their own files in the place of /proc and /sys.
//
//   number_behind(system.file("/proc/meminfo"), "MemAvailable:")     // 23654400
#pragma once

#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace voxshard {

struct SystemView {
  std::filesystem::path root = "/";
  std::function<const char*(const char*)> environment = [](const char* name) -> const char* {
    return std::getenv(name);
  };

  /// Returns the path below `root` of the file with this absolute path.
  std::filesystem::path file(const std::filesystem::path& path) const { return root / path.relative_path(); }
  /// Returns an environment variable as a whole number; none when it is not set or not a number.
  std::optional<std::int64_t> number(const char* variable) const;
};

/// Returns all lines of a file; empty when it cannot be read.
std::vector<std::string> lines_of(const std::filesystem::path& file);
/// Returns the words of a line, separated by blanks.
std::vector<std::string> words_of(const std::string& line);
/// Returns the number at the beginning of a file; none for "max" and where there is no number.
std::optional<std::int64_t> first_number(const std::filesystem::path& file);
/// Returns the number after `key` in a file of lines "key number ..."; none where there is no such line.
std::optional<std::int64_t> number_behind(const std::filesystem::path& file, const std::string& key);

}  // namespace voxshard
