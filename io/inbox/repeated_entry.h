// A folder that arrives again under the name of one that was finished before: what is new in it, and how the files of
// both become one folder in the inbox. A process may be killed between any two steps: the next one goes on, no file is
// lost and none is there twice.
//
//   const Repetition found = compare_entries("in/st_1", "done/st_1");
//   if (found.is_plain && found.changed == 0) remove_repeated("in/st_1", "done/st_1");
//   else if (found.is_plain) join_entries("in/st_1", "done/st_1");     // in/st_1 has all files, done/st_1 is gone
#pragma once

#include <cstddef>
#include <filesystem>

namespace voxshard {

struct Repetition {
  bool is_plain = true;     // false: one of both holds something else than files and folders, or too many of them
  std::size_t files = 0;    // of the entry that came again
  std::size_t changed = 0;  // of them, those that the earlier one lacks or has with other bytes
  std::size_t missing = 0;  // files of the earlier one that the other lacks
};

/// Compares two folders by the paths in them and the bytes of their files. Errors: kInput for a file that cannot be
/// read. Cost: reads both up to the first difference of each file.
Repetition compare_entries(const std::filesystem::path& again, const std::filesystem::path& earlier);

/// Removes the files of an entry that are equal to those of the earlier one, and the folders that are empty then. A
/// file that arrives or changes in between stays. Errors: kOutput.
void remove_repeated(const std::filesystem::path& again, const std::filesystem::path& earlier);

/// Moves the files that `again` lacks from `earlier` into it, never over a file that is there, and then removes
/// `earlier` with what is left in it: the files of which `again` has newer ones. Requires is_plain. Errors: kOutput;
/// calling it again goes on.
void join_entries(const std::filesystem::path& again, const std::filesystem::path& earlier);

}  // namespace voxshard
