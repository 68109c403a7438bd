#include "io/files/folder_lock.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <charconv>
#include <cstring>
#include <optional>
#include <utility>

#include "io/files/file_error.h"
#include "io/files/manifest.h"

namespace voxshard {
namespace {

namespace fs = std::filesystem;

constexpr const char* kLockName = ".voxshard.lock";
constexpr off_t kMostBytes = 256;  // largest lock file: "1234 train"
/// Flags with which open() follows no link and does not block on a named pipe.
constexpr int kNeverWaits = O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY;

/// Returns "process 1234, train" for a writer that is alive; empty when the holder only reads.
std::string holder(int descriptor) {
  char text[kMostBytes];
  const ssize_t bytes = ::pread(descriptor, text, sizeof text, 0);
  pid_t process = 0;
  const auto [end, error] = std::from_chars(text, text + std::max<ssize_t>(bytes, 0), process);
  if (error != std::errc() || process <= 0 || (::kill(process, 0) != 0 && errno == ESRCH)) return {};
  std::string who = "process " + std::to_string(process);
  std::string command;
  for (const char* at = end + (end < text + bytes ? 1 : 0); at < text + bytes && *at >= ' ' && *at <= '~'; ++at)
    command += *at;
  return command.empty() ? who : who + ", " + command;
}

std::string by_whom(int descriptor) {
  const std::string who = holder(descriptor);
  return who.empty() ? "another voxshard" : "another voxshard (" + who + ")";
}

}  // namespace

FolderLock::FolderLock(FolderLock&& other) noexcept
    : file_(std::move(other.file_)), descriptor_(std::exchange(other.descriptor_, -1)), writes_(other.writes_) {}

FolderLock::~FolderLock() {
  if (descriptor_ < 0) return;
  if (writes_ && ::ftruncate(descriptor_, 0) != 0) {
    // The text in the lock file stays; it is only read while the lock is held.
  }
  ::close(descriptor_);
}

void FolderLock::remove() {
  std::error_code ignored;
  if (descriptor_ >= 0 && writes_) fs::remove(file_, ignored);
}

bool FolderLock::take(int how) {
  while (::flock(descriptor_, how | LOCK_NB) != 0) {
    if (errno == EINTR) continue;
    if (errno == EWOULDBLOCK) return false;
    const bool has_no_locks = errno == ENOLCK || errno == ENOSYS || errno == EOPNOTSUPP;
    if (how == LOCK_SH && has_no_locks) return true;  // no writer can lock a folder there either
    throw output_error(file_, std::string("the folder cannot be locked: ") + std::strerror(errno),
                       "choose a folder on a file system with locks");
  }
  return true;
}

FolderLock FolderLock::writing(const fs::path& folder, const std::string& command) {
  for (;;) {
    FolderLock lock(folder / kLockName);
    lock.descriptor_ = ::open(lock.file_.c_str(), O_RDWR | O_CREAT | kNeverWaits, 0666);
    struct stat opened {
    }, named{};
    if (lock.descriptor_ < 0 || ::fstat(lock.descriptor_, &opened) != 0)
      throw output_error(lock.file_, std::strerror(errno), "check the folder's permissions");
    if (!S_ISREG(opened.st_mode) || opened.st_nlink > 1 || opened.st_size > kMostBytes)
      throw output_error(lock.file_, "is no lock file of voxshard", "choose another folder");
    if (!lock.take(LOCK_EX))
      throw Error(ErrorKind::kOutput, "[output] " + folder.string() + " is in use by " + by_whom(lock.descriptor_) +
                                          "; wait until that has ended, or choose another folder");
    // The process that held the lock before may have removed the file: then this lock is on a deleted file.
    if (::stat(lock.file_.c_str(), &named) != 0 || named.st_ino != opened.st_ino || named.st_dev != opened.st_dev)
      continue;
    lock.writes_ = true;
    const std::string note = (std::to_string(::getpid()) + " " + command).substr(0, kMostBytes);
    if (::ftruncate(lock.descriptor_, 0) != 0 || ::pwrite(lock.descriptor_, note.data(), note.size(), 0) < 0) {
      const std::string reason = std::strerror(errno);
      lock.remove();  // nothing is left behind; waiting processes open the file again
      throw output_error(lock.file_, reason, "check that the disk has space");
    }
    return lock;
  }
}

FolderLock FolderLock::reading(const fs::path& folder) {
  FolderLock lock(folder / kLockName);
  lock.descriptor_ = ::open(lock.file_.c_str(), O_RDONLY | kNeverWaits);
  if (lock.descriptor_ < 0 && errno == ENOENT && fs::exists(folder / kManifestName))
    lock.descriptor_ = ::open(lock.file_.c_str(), O_RDONLY | O_CREAT | kNeverWaits, 0666);
  struct stat opened {};
  if (lock.descriptor_ >= 0 && (::fstat(lock.descriptor_, &opened) != 0 || !S_ISREG(opened.st_mode)))
    throw input_error(lock.file_, "is no lock file of voxshard", "move it away");
  if (lock.descriptor_ >= 0 && !lock.take(LOCK_SH))
    throw input_error(folder, "is being written by " + by_whom(lock.descriptor_), "begin when that has ended");
  return lock;
}

}  // namespace voxshard
