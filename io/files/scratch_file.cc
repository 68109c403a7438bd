#include "io/files/scratch_file.h"

#include <fcntl.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "libcore/base/error.h"
#include "libcore/base/text.h"

namespace voxshard {
namespace {

namespace fs = std::filesystem;

constexpr const char* kElsewhere = "give {scratch} a folder on another disk";

fs::path nearest_folder(fs::path folder) {
  std::error_code unseen;
  while (folder.has_relative_path() && !fs::is_directory(folder, unseen)) {
    if (folder.parent_path() == folder) break;
    folder = folder.parent_path();
  }
  return folder.empty() ? fs::path(".") : folder;
}

[[noreturn]] void fail(const fs::path& folder, int error) {
  throw Error(ErrorKind::kOutput,
              "[scratch] no file can be made in " + folder.string() + ": " + std::strerror(error) + "; " + kElsewhere);
}

}  // namespace

int ScratchFile::with_room(std::int64_t bytes) {
  const fs::path folder = nearest_folder(folder_);
  if (file_.number() < 0 && (file_ = open_nameless(folder)).number() < 0) fail(folder, errno);
  if (::ftruncate(file_.number(), 0) != 0) fail(folder, errno);
  const int error = ::posix_fallocate(file_.number(), 0, bytes);
  if (error == 0) return file_.number();
  static_cast<void>(::ftruncate(file_.number(), 0));
  if (error != ENOSPC && error != EFBIG && error != EDQUOT) fail(folder, error);
  struct statvfs disk = {};
  const bool known = ::statvfs(folder.c_str(), &disk) == 0;
  throw Error(ErrorKind::kBudget,
              "[scratch] the cores need " + bytes_text(bytes) + " in a file in " + folder.string() +
                  (error == ENOSPC && known ? ", which has " +
                                                  bytes_text(static_cast<std::int64_t>(disk.f_bavail) *
                                                             static_cast<std::int64_t>(disk.f_frsize)) +
                                                  " free"
                                            : std::string(": ") + std::strerror(error)) +
                  "; " + kElsewhere + ", or more {host-memory}");
}

}  // namespace voxshard
