// A folder for temporary files that only this user may read, for libraries that open files by name. It lies below
// TMPDIR and is removed at the end of its life, by the signal handler of a process that must end at once, and, when the
// process was killed, by the next process that makes such a folder.
//
//   PrivateFolder folder("study.zip");
//   OutputStream out(folder.make_file("1/17"));
//   path_outside(folder.path() / "1/17")          // "study.zip/1/17", for messages
#pragma once

#include <sys/types.h>

#include <filesystem>
#include <string>

#include "io/files/open_file.h"

namespace voxshard {

class PrivateFolder {
 public:
  /// Makes a folder of mode 0700 with an unguessable name.
  ///   stands_for  the path that its files have in messages
  /// Errors: kOutput with the reason.
  explicit PrivateFolder(std::filesystem::path stands_for);
  /// Removes the folder with all that is in it, up to six folders deep, but not in a child process.
  ~PrivateFolder();
  PrivateFolder(const PrivateFolder&) = delete;
  PrivateFolder& operator=(const PrivateFolder&) = delete;

  const std::filesystem::path& path() const { return path_; }
  /// Makes a new file of mode 0600 and the folder that holds it; `name` is made by us, never by an input. Errors:
  /// kOutput.
  Descriptor make_file(const std::filesystem::path& name) const;
  /// Returns a text in which paths of this folder have the name that they stand for.
  std::string text_outside(std::string text) const;

 private:
  std::filesystem::path path_, stands_for_;
  Descriptor lock_;  // held while the process lives: others do not remove the folder
  pid_t owner_;
};

/// Returns the path that a file of a private folder stands for; any other path as it is. Threads: any.
std::filesystem::path path_outside(const std::filesystem::path& path);

/// Opens a regular file that grows, to read it and to append to it; a new one has mode 0600. Follows no link and does
/// not wait. On failure the descriptor is empty and errno says why.
Descriptor open_private_to_append(const std::filesystem::path& path);

/// Removes the private folders of this process. Safe in a signal handler of a process that ends right after it.
void remove_private_folders() noexcept;

}  // namespace voxshard
