// One writer per folder: a kernel lock (flock) on FOLDER/.voxshard.lock, which is released when the process that holds
// it ends, also by a crash. Readers share the lock: nobody overwrites a folder while a training reads it.
//
//   FolderLock lock = FolderLock::writing("run", "train");   // kOutput while another train is at work there
//   FolderLock lock = FolderLock::reading("work");           // kInput while prepare is at work there
#pragma once

#include <filesystem>
#include <string>

namespace voxshard {

class FolderLock {
 public:
  /// Makes the lock file when there is none, and writes process and command into it, which other processes print when
  /// they find the folder locked. Errors: kOutput when another process writes or reads the folder, or when it cannot be
  /// locked.
  static FolderLock writing(const std::filesystem::path& folder, const std::string& command);
  /// Needs no write permission: a folder that cannot be written is read without a lock if it has no lock file.
  /// Errors: kInput when the folder is being written.
  static FolderLock reading(const std::filesystem::path& folder);

  FolderLock(FolderLock&& other) noexcept;
  FolderLock& operator=(FolderLock&&) = delete;
  ~FolderLock();

  /// Removes the lock file too, for a folder that is left as it was found.
  void remove();

 private:
  explicit FolderLock(std::filesystem::path file) : file_(std::move(file)) {}
  /// Takes the lock; returns false when another process holds it in a conflicting mode. `how`: LOCK_SH or LOCK_EX.
  bool take(int how);

  std::filesystem::path file_;
  int descriptor_ = -1;
  bool writes_ = false;
};

}  // namespace voxshard
