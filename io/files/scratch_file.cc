#include "io/files/scratch_file.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "libcore/base/error.h"
#include "libcore/base/text.h"

namespace voxshard {
namespace {

namespace fs = std::filesystem;

constexpr const char* kElsewhere = "give {scratch} a folder on another disk";

[[noreturn]] void fail(const fs::path& folder, int error) {
  throw Error(ErrorKind::kOutput,
              "[scratch] no file can be made in " + folder.string() + ": " + std::strerror(error) + "; " + kElsewhere);
}

/// Reserves room on the disk for a file of that size. Returns the error number; 0 when it is there. More than is free
/// is not tried: some file systems would fill the disk first, and others would fail to write meanwhile.
int reserve(int file, const fs::path& folder, std::int64_t bytes) {
  std::error_code unknown;
  const fs::space_info disk = fs::space(folder, unknown);
  if (!unknown && disk.capacity > 0 && disk.available < static_cast<std::uintmax_t>(bytes)) return ENOSPC;
  while (::fallocate(file, 0, 0, bytes) != 0)
    if (errno != EINTR) return errno;
  return 0;
}

}  // namespace

fs::path nearest_folder(const fs::path& path) {
  std::error_code unseen;
  fs::path folder = fs::absolute(path);
  while (!fs::is_directory(folder, unseen) && folder.has_relative_path()) folder = folder.parent_path();
  return folder;
}

int ScratchFile::with_room(std::int64_t bytes) {
  if (file_.number() < 0 && (file_ = open_nameless(folder_)).number() < 0) fail(folder_, errno);
  if (::ftruncate(file_.number(), 0) != 0) fail(folder_, errno);
  const int error = reserve(file_.number(), folder_, bytes);
  if (error == 0) return file_.number();
  static_cast<void>(::ftruncate(file_.number(), 0));
  if (error != ENOSPC && error != EFBIG && error != EDQUOT) fail(folder_, error);
  std::error_code unknown;
  const fs::space_info disk = fs::space(folder_, unknown);
  throw Error(ErrorKind::kBudget,
              "[scratch] " + bytes_text(bytes) + " are needed in a file in " + folder_.string() +
                  (error == ENOSPC && !unknown
                       ? ", which has " + bytes_text(static_cast<std::int64_t>(disk.available)) + " free"
                       : std::string(": ") + std::strerror(error)) +
                  "; " + kElsewhere + ", or more {host-memory}");
}

}  // namespace voxshard
