#include "io/atomic_file.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <fstream>

#include "libcore/base/error.h"

namespace voxshard {
namespace {

namespace fs = std::filesystem;

[[noreturn]] void fail(const fs::path& path, const std::string& reason) {
  throw Error(ErrorKind::kOutput, "[output] cannot write " + path.string() + ": " + reason +
                                      "; check that the folder exists, is writable and has space");
}

void sync(const fs::path& path, int flags) {
  const int fd = ::open(path.c_str(), flags);
  if (fd < 0) return;
  ::fsync(fd);
  ::close(fd);
}

}  // namespace

fs::path temporary_path(const fs::path& path) {
  return path.parent_path() / (".tmp." + std::to_string(::getpid()) + "." + path.filename().string());
}

void commit_file(const fs::path& temporary, const fs::path& path) {
  sync(temporary, O_RDONLY);
  std::error_code error;
  fs::rename(temporary, path, error);
  if (error) {
    std::error_code ignored;
    fs::remove(temporary, ignored);
    fail(path, error.message());
  }
  sync(path.has_parent_path() ? path.parent_path() : fs::path("."), O_RDONLY | O_DIRECTORY);
}

void write_file_atomically(const fs::path& path, const std::function<void(std::ostream&)>& body) {
  const fs::path temporary = temporary_path(path);
  std::ofstream out(temporary, std::ios::binary | std::ios::trunc);
  if (!out) fail(path, std::strerror(errno));
  try {
    body(out);
    out.flush();
    if (!out) fail(path, std::strerror(errno));
    out.close();
  } catch (...) {
    std::error_code ignored;
    fs::remove(temporary, ignored);
    throw;
  }
  commit_file(temporary, path);
}

void write_text_atomically(const fs::path& path, std::string_view text) {
  write_file_atomically(path, [&](std::ostream& out) { out << text; });
}

}  // namespace voxshard
