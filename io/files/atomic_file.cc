#include "io/files/atomic_file.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <utility>

#include "io/files/file_error.h"

namespace voxshard {
namespace {

namespace fs = std::filesystem;

constexpr const char* kCheckFolder = "check that the folder exists, is writable and has space";

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
    throw output_error(path, error.message(), kCheckFolder);
  }
  sync(path.has_parent_path() ? path.parent_path() : fs::path("."), O_RDONLY | O_DIRECTORY);
}

AtomicFile::AtomicFile(fs::path path) : path_(std::move(path)), temporary_(temporary_path(path_)) {
  out_.open(temporary_, std::ios::binary | std::ios::trunc);
  if (!out_) throw output_error(path_, std::strerror(errno), kCheckFolder);
}

AtomicFile::~AtomicFile() {
  if (temporary_.empty()) return;
  std::error_code ignored;
  fs::remove(temporary_, ignored);
}

void AtomicFile::commit() {
  out_.flush();
  if (!out_) throw output_error(path_, std::strerror(errno), kCheckFolder);
  out_.close();
  commit_file(std::exchange(temporary_, {}), path_);
}

void write_file_atomically(const fs::path& path, const std::function<void(std::ostream&)>& body) {
  AtomicFile file(path);
  body(file.stream());
  file.commit();
}

void write_text_atomically(const fs::path& path, std::string_view text) {
  write_file_atomically(path, [&](std::ostream& out) { out << text; });
}

}  // namespace voxshard
