// A file without a name for memory that does not fit: arenas of cores that are not at work are mapped from it. It lies
// in a folder of the user's choice and goes with the process, however that ends.
//
//   ScratchFile scratch(nearest_folder("out/cases"));
//   int file = scratch.with_room(41 << 30);   // mapped by CoreSet
#pragma once

#include <filesystem>

#include "io/files/open_file.h"

namespace voxshard {

/// Returns the path if it is a folder, else the nearest folder above it that exists.
std::filesystem::path nearest_folder(const std::filesystem::path& path);

class ScratchFile {
 public:
  /// Makes no file yet.
  explicit ScratchFile(std::filesystem::path folder) : folder_(std::move(folder)) {}

  /// Returns the descriptor of the file, which then has that many bytes; what it held before is gone. The disk space is
  /// reserved, so that writing through a mapping cannot fail for want of it. Errors: kBudget E_BUDGET when the disk has
  /// less free, kOutput when the file cannot be made or its file system reserves no room.
  int with_room(std::int64_t bytes);

 private:
  std::filesystem::path folder_;
  Descriptor file_;
};

}  // namespace voxshard
