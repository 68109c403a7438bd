// Files of data sets, for tests of damaged, renamed and missing files.
#pragma once

#include <algorithm>
#include <filesystem>
#include <string>
#include <vector>

#include "tests/cli/run_voxshard.h"

namespace voxshard {

/// Returns the files below a folder whose path ends with `ending`, sorted.
inline std::vector<std::filesystem::path> files_below(const std::filesystem::path& folder, const std::string& ending) {
  std::vector<std::filesystem::path> files;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(folder))
    if (entry.path().string().ends_with(ending)) files.push_back(entry.path());
  std::sort(files.begin(), files.end());
  return files;
}

/// Changes 64 bytes after the middle of a file; the length stays.
inline void damage(const std::filesystem::path& file) {
  std::string bytes = file_text(file.string());
  for (std::size_t i = 0; i < 64; ++i) bytes.at(bytes.size() / 2 + i) ^= 0x5a;
  std::ofstream(file, std::ios::binary) << bytes;
}

/// Writes `each` images to FOLDER/classes/left and as many to FOLDER/classes/right.
inline void make_classes(const Folder& folder, int each) {
  namespace fs = std::filesystem;
  run_voxshard("demo " + (folder / "pictures") + " --task detection --cases " + std::to_string(2 * each) +
               " --test 0 -q");
  int i = 0;
  for (const fs::path& file : files_below(folder / "pictures", ".png")) {
    const std::string name = std::string("classes/") + (i % 2 == 0 ? "left/" : "right/");
    fs::create_directories(folder / name);
    fs::copy_file(file, folder / (name + std::to_string(i++) + ".png"));
  }
}

}  // namespace voxshard
