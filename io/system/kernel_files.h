// The kernel's own files about this process and its machine, and the environment: the seam for tests, which put a tree
// of files of their own in the place of /proc and /sys.
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

  /// Where the file with that absolute path lies.
  std::filesystem::path file(const std::filesystem::path& path) const { return root / path.relative_path(); }
  /// The value of a variable as a whole number; nothing where it is not set, or is none.
  std::optional<std::int64_t> number(const char* variable) const;
};

/// All lines; none where the file cannot be read.
std::vector<std::string> lines_of(const std::filesystem::path& file);
/// What is between blanks.
std::vector<std::string> words_of(const std::string& line);
/// The number that a file begins with; nothing for "max" and where there is none.
std::optional<std::int64_t> first_number(const std::filesystem::path& file);
/// The number behind `key` in a file of lines "key number ..."; nothing where there is none.
std::optional<std::int64_t> number_behind(const std::filesystem::path& file, const std::string& key);

}  // namespace voxshard
