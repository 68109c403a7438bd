// One writer per folder: a lock of the kernel on FOLDER/.voxshard.lock, which ends with the process that holds it,
// however that ends. Readers share: nobody writes a folder anew while a training reads it.
//
//   FolderLock lock = FolderLock::writing("run", "train");   // kOutput while another train is at work there
//   FolderLock lock = FolderLock::reading("work");           // kInput while prepare is at work there
#pragma once

#include <filesystem>
#include <string>

namespace voxshard {

class FolderLock {
 public:
  /// Makes the lock file when there is none, and notes process and command in it for the message of those who come too
  /// late. Errors: kOutput when the folder is written or read by another; when it cannot be locked.
  static FolderLock writing(const std::filesystem::path& folder, const std::string& command);
  /// Needs no right to write: a folder that cannot be written is read without a lock if it has no lock file.
  /// Errors: kInput when the folder is being written.
  static FolderLock reading(const std::filesystem::path& folder);

  FolderLock(FolderLock&& other) noexcept;
  FolderLock& operator=(FolderLock&&) = delete;
  ~FolderLock();

  /// Removes the lock file too, for a folder that is left as it was found.
  void remove();

 private:
  explicit FolderLock(std::filesystem::path file) : file_(std::move(file)) {}
  /// False when another holds it in a way that excludes this one.
  bool take(int how);

  std::filesystem::path file_;
  int descriptor_ = -1;
  bool writes_ = false;
};

}  // namespace voxshard
