// One writer per folder: a kernel lock (flock) on FOLDER/.voxshard.lock, which is released when the process that holds
// it ends, also by a crash. Readers share the lock: nobody overwrites a folder while a training reads it.
//
//   FolderLock lock = FolderLock::writing("run", "train");   // kOutput while another train is at work there
//   FolderLock lock = FolderLock::reading("work");           // kInput while prepare is at work there
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>

namespace voxshard {

class FolderLock {
 public:
  /// Makes the lock file when there is none, and writes process, host and command into it, which other processes print
  /// when they find the folder locked. A killed process leaves this note. Errors: kOutput when another process writes
  /// or reads the folder, or when it cannot be locked.
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
  /// Takes the lock for writing; waits a little for a process that only looks at it (folder_writer()).
  bool take_to_write();

  std::filesystem::path file_;
  int descriptor_ = -1;
  bool writes_ = false;
};

/// Who writes a folder, or wrote it when it was killed.
struct FolderWriter {
  enum class Lock {
    kHeld,  // a process holds the lock for writing
    kFree,  // no process that this host knows of holds it: other hosts are only seen where the file system shares locks
    kUnseen,  // the lock file cannot be opened, or its file system has no locks
  };
  Lock lock = Lock::kFree;
  std::int64_t process = 0;             // of the note; 0: there is no note, because the last writer ended by itself
  std::string command = {}, host = {};  // of the note; printable characters alone
  bool on_this_host = false;            // the note is of this host
};

/// Looks at a folder's lock without waiting. Takes it for a moment where nobody writes, which writing() waits for.
FolderWriter folder_writer(const std::filesystem::path& folder);

}  // namespace voxshard
