// The temporary files that are being written, known to a process that must end at once: a signal's handler removes
// them, so that not even their hidden names stay.
//
//   note_unfinished(".tmp.17.found.json");  ...  forget_unfinished(".tmp.17.found.json");   // atomic_file.cc does
#pragma once

#include <filesystem>

namespace voxshard {

/// At most 64 at a time, of names shorter than 4096 bytes; what is more is written all the same, and stays when the
/// process is ended. Threads: any.
void note_unfinished(const std::filesystem::path& file);
void forget_unfinished(const std::filesystem::path& file);

/// Removes all that is noted. Safe in a signal's handler, by a process that ends right after it: another thread may be
/// writing, naming or forgetting a file meanwhile.
void remove_unfinished_files() noexcept;

}  // namespace voxshard
