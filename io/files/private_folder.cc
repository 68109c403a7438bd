// A signal handler removes folders without memory of its own: level by level, on its stack. Files of archives lie one
// folder deep (NUMBER/NUMBER), predictions of a golden case two (avx2/predictions/NAME).
#include "io/files/private_folder.h"

#include <fcntl.h>
#include <stdlib.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <cstring>
#include <map>
#include <mutex>

#include "io/files/file_error.h"

namespace voxshard {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kPrivatePrefix = "voxshard-private-";
constexpr int kFolderFlags = O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC;
constexpr int kDeepestRemoved = 6;  // of folders below a private one; each takes some 4 KiB of stack and a descriptor

/// A name that the signal handler may read at any time; it is never freed.
struct FolderSlot {
  std::atomic<bool> used{false};
  std::array<char, 4096> name{};
};
std::array<FolderSlot, 32> folder_slots;

/// The paths that folders stand for. It is never destroyed: folders may be removed while the program ends.
struct OutsideNames {
  std::mutex mutex;
  std::map<fs::path, fs::path> outside;
};
OutsideNames& outside_names() {
  static OutsideNames& all = *new OutsideNames;
  return all;
}

void note_folder(const fs::path& folder) {
  const std::string name = folder.string();
  for (FolderSlot& slot : folder_slots) {
    if (slot.used || name.size() >= slot.name.size()) continue;
    std::memcpy(slot.name.data(), name.c_str(), name.size() + 1);
    slot.used = true;
    return;
  }
}

void forget_folder(const fs::path& folder) {
  for (FolderSlot& slot : folder_slots)
    if (slot.used && folder.string() == slot.name.data()) slot.used = false;
}

/// The head of an entry that the system call getdents64 gives; its name follows.
struct FolderEntry {
  std::uint64_t inode;
  std::int64_t offset;
  unsigned short length;
  unsigned char kind;
  char name[1];
};

/// Removes the contents of an open folder, with system calls alone. Returns whether anything was removed.
///   deepest  levels of folders below it that are emptied; what lies deeper stays
bool empty_folder(int folder, int deepest) noexcept {
  alignas(FolderEntry) std::array<char, 4096> buffer{};
  bool removed_any = false;
  // Entries may be passed over while others are removed, and a thread may add some: it is read until nothing is left or
  // nothing more can be removed, within bounds.
  for (int pass = 0; pass < 64; ++pass) {
    bool removed = false;
    ::lseek(folder, 0, SEEK_SET);
    for (long got; (got = ::syscall(SYS_getdents64, folder, buffer.data(), buffer.size())) > 0;)
      for (long at = 0; at < got;) {
        const auto* entry = reinterpret_cast<const FolderEntry*>(buffer.data() + at);
        const char* name = entry->name;
        at += entry->length;
        if (std::strcmp(name, ".") == 0 || std::strcmp(name, "..") == 0) continue;
        const bool gone = ::unlinkat(folder, name, 0) == 0;
        removed = removed || gone;
        if (gone || deepest == 0) continue;
        const int inner = ::openat(folder, name, kFolderFlags);
        if (inner < 0) continue;
        removed = empty_folder(inner, deepest - 1) || removed;
        ::close(inner);
        removed = ::unlinkat(folder, name, AT_REMOVEDIR) == 0 || removed;
      }
    if (!removed) break;
    removed_any = true;
  }
  return removed_any;
}

void remove_folder(const char* path) noexcept {
  const int folder = ::open(path, kFolderFlags);
  if (folder < 0) return;
  empty_folder(folder, kDeepestRemoved);
  ::close(folder);
  ::rmdir(path);
}

bool take_folder_lock(int folder) { return ::flock(folder, LOCK_EX | LOCK_NB) == 0; }

/// Removes the folders of this user whose process is gone: nobody holds their locks.
void remove_abandoned(const fs::path& parent) {
  std::error_code error;
  for (fs::directory_iterator it(parent, error), end; !error && it != end; it.increment(error)) {
    if (!it->path().filename().string().starts_with(kPrivatePrefix)) continue;
    const Descriptor folder(::open(it->path().c_str(), kFolderFlags));
    struct stat about {};
    if (folder.number() < 0 || ::fstat(folder.number(), &about) != 0 || about.st_uid != ::geteuid()) continue;
    if (take_folder_lock(folder.number())) remove_folder(it->path().c_str());
  }
}

}  // namespace

PrivateFolder::PrivateFolder(fs::path stands_for) : stands_for_(std::move(stands_for)), owner_(::getpid()) {
  std::error_code error;
  const fs::path parent = fs::temp_directory_path(error);
  if (error) throw output_error("TMPDIR", error.message(), "name a folder that exists");
  remove_abandoned(parent);
  const std::string pattern = fs::absolute(parent).string() + "/" + std::string(kPrivatePrefix) + "XXXXXX";
  for (;;) {
    std::string name = pattern;
    if (::mkdtemp(name.data()) == nullptr) throw output_error(parent, std::strerror(errno), "set TMPDIR");
    lock_ = Descriptor(::open(name.c_str(), kFolderFlags));
    struct stat about {};
    const bool ours = lock_.number() >= 0 && take_folder_lock(lock_.number()) && ::stat(name.c_str(), &about) == 0;
    if (ours) {
      path_ = name;
      break;
    }
    // Another process may have taken the new folder for an abandoned one before it was locked; any other reason holds
    // for the next folder too.
    if (const int reason = errno; reason != ENOENT && reason != EWOULDBLOCK) {
      ::rmdir(name.c_str());
      throw output_error(parent, std::strerror(reason), "set TMPDIR to a folder on a disk of this machine");
    }
  }
  const std::lock_guard guard(outside_names().mutex);
  note_folder(path_);
  outside_names().outside[path_] = stands_for_;
}

PrivateFolder::~PrivateFolder() {
  if (::getpid() != owner_) return;
  remove_folder(path_.c_str());
  const std::lock_guard guard(outside_names().mutex);
  forget_folder(path_);
  outside_names().outside.erase(path_);
}

Descriptor PrivateFolder::make_file(const fs::path& name) const {
  const fs::path path = path_ / name;
  std::error_code error;
  fs::create_directory(path.parent_path(), error);
  Descriptor file(::open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600));
  if (file.number() < 0)
    throw output_error(path_.parent_path(), std::strerror(errno), "free space there, or set TMPDIR");
  return file;
}

std::string PrivateFolder::text_outside(std::string text) const {
  const std::string inside = path_.string(), outside = stands_for_.string();
  for (std::size_t at = 0; (at = text.find(inside, at)) != std::string::npos; at += outside.size())
    text.replace(at, inside.size(), outside);
  return text;
}

fs::path path_outside(const fs::path& path) {
  const std::lock_guard guard(outside_names().mutex);
  for (const auto& [inside, outside] : outside_names().outside) {
    const std::string text = path.string(), folder = inside.string() + "/";
    if (text.starts_with(folder)) return outside / text.substr(folder.size());
  }
  return path;
}

Descriptor open_private_to_append(const fs::path& path) {
  constexpr int kFlags = O_RDWR | O_APPEND | O_CREAT | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY;
  Descriptor file(::open(path.c_str(), kFlags, 0600));
  struct stat about {};
  if (file.number() < 0 || ::fstat(file.number(), &about) != 0) return Descriptor();
  if (!S_ISREG(about.st_mode)) {
    errno = EINVAL;
    return Descriptor();
  }
  if (about.st_size == 0) {  // a new name stays after a crash too
    const Descriptor folder(::open(fs::absolute(path).parent_path().c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    if (folder.number() >= 0) ::fsync(folder.number());
  }
  return file;
}

void remove_private_folders() noexcept {
  for (FolderSlot& slot : folder_slots)
    if (slot.used) remove_folder(slot.name.data());
}

}  // namespace voxshard
