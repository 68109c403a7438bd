#include "io/output/folder_lock.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <cstring>
#include <ctime>
#include <limits>
#include <string_view>
#include <utility>

#include "io/files/file_error.h"
#include "io/files/open_file.h"
#include "io/output/manifest.h"

namespace voxshard {
namespace {

namespace fs = std::filesystem;

constexpr const char* kLockName = ".voxshard.lock";
constexpr off_t kMostBytes = 256;  // largest lock file: "1234 train node1"
/// Flags with which open() follows no link and does not block on a named pipe.
constexpr int kNeverWaits = O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY;

std::string this_host() {
  std::array<char, 65> name{};  // HOST_NAME_MAX and the end
  return ::gethostname(name.data(), name.size() - 1) == 0 && name[0] != '\0' ? name.data() : "localhost";
}

/// Takes the printable characters up to `end` off the front of `text`, and `end` too.
std::string taken_until(std::string_view& text, char end) {
  std::string word;
  while (!text.empty() && text.front() != end && text.front() >= ' ' && text.front() <= '~') {
    word += text.front();
    text.remove_prefix(1);
  }
  if (text.starts_with(end)) text.remove_prefix(1);
  return word;
}

/// Reads the note of the last writer; without a process when there is none, or when it is no note.
FolderWriter note_of(int descriptor) {
  std::array<char, kMostBytes> bytes{};
  const ssize_t count = ::pread(descriptor, bytes.data(), bytes.size(), 0);
  std::string_view text(bytes.data(), static_cast<std::size_t>(std::max<ssize_t>(count, 0)));
  FolderWriter writer;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), writer.process);
  if (error != std::errc() || writer.process <= 0 || writer.process > std::numeric_limits<pid_t>::max()) return {};
  text.remove_prefix(static_cast<std::size_t>(end - text.data()));
  if (text.starts_with(' ')) text.remove_prefix(1);
  writer.command = taken_until(text, ' ');
  writer.host = taken_until(text, '\n');
  writer.on_this_host = writer.host == this_host();  // a note of an earlier version names none
  return writer;
}

/// Returns "process 1234, train" or "process 1234 on node2, train" for a writer that may be alive; empty when the
/// holder only reads.
std::string holder(int descriptor) {
  const FolderWriter writer = note_of(descriptor);
  if (writer.process == 0) return {};
  const bool here = writer.on_this_host || writer.host.empty();
  if (here && ::kill(static_cast<pid_t>(writer.process), 0) != 0 && errno == ESRCH) return {};
  return "process " + std::to_string(writer.process) + (here ? "" : " on " + writer.host) +
         (writer.command.empty() ? "" : ", " + writer.command);
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

bool FolderLock::take_to_write() {
  constexpr int kTries = 5;
  constexpr timespec kPause{.tv_sec = 0, .tv_nsec = 2'000'000};  // a look takes microseconds
  for (int i = 0; !take(LOCK_EX); ++i) {
    if (i == kTries || !holder(descriptor_).empty()) return false;
    ::nanosleep(&kPause, nullptr);
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
    if (!lock.take_to_write())
      throw Error(ErrorKind::kOutput, "[output] " + folder.string() + " is in use by " + by_whom(lock.descriptor_) +
                                          "; wait until that has ended, or choose another folder");
    // The process that held the lock before may have removed the file: then this lock is on a deleted file.
    if (::stat(lock.file_.c_str(), &named) != 0 || named.st_ino != opened.st_ino || named.st_dev != opened.st_dev)
      continue;
    lock.writes_ = true;
    const std::string note = (std::to_string(::getpid()) + " " + command + " " + this_host()).substr(0, kMostBytes);
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

FolderWriter folder_writer(const fs::path& folder) {
  const Descriptor file(::open((folder / kLockName).c_str(), O_RDONLY | kNeverWaits));
  struct stat opened {};
  if (file.number() < 0) return {.lock = errno == ENOENT ? FolderWriter::Lock::kFree : FolderWriter::Lock::kUnseen};
  if (::fstat(file.number(), &opened) != 0 || !S_ISREG(opened.st_mode)) return {.lock = FolderWriter::Lock::kUnseen};
  const FolderWriter before = note_of(file.number());
  const bool taken = ::flock(file.number(), LOCK_SH | LOCK_NB) == 0;  // closing the file gives it back
  const bool held = !taken && errno == EWOULDBLOCK;
  FolderWriter writer = held ? note_of(file.number()) : before;
  writer.lock = taken ? FolderWriter::Lock::kFree : held ? FolderWriter::Lock::kHeld : FolderWriter::Lock::kUnseen;
  return writer;
}

}  // namespace voxshard
