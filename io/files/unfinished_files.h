// A list of the temporary files that are being written. The signal handler of a process that must end at once removes
// them, so that no hidden files stay.
//
//   note_unfinished(".tmp.17.found.json");  ...  forget_unfinished(".tmp.17.found.json");   // atomic_file.cc does
#pragma once

#include <filesystem>

namespace voxshard {

/// Adds a file to the list. The list holds at most 64 files, with names shorter than 4096 bytes; other files are
/// written all the same, and stay when the process is killed. Threads: any.
void note_unfinished(const std::filesystem::path& file);
void forget_unfinished(const std::filesystem::path& file);

/// Removes all files on the list, and the private folders (private_folder.h). Safe in a signal handler of a process
/// that ends right after it: another thread may be writing a file or changing the list meanwhile.
void remove_unfinished_files() noexcept;

}  // namespace voxshard
