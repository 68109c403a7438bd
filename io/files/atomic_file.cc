#include "io/files/atomic_file.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <utility>

#include "io/files/file_error.h"
#include "io/files/unfinished_files.h"

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
  fs::path temporary = path.parent_path() / (".tmp." + std::to_string(::getpid()) + "." + path.filename().string());
  note_unfinished(temporary);
  return temporary;
}

void commit_file(const fs::path& temporary, const fs::path& path) {
  sync(temporary, O_RDONLY);
  std::error_code error;
  fs::rename(temporary, path, error);
  if (error) {
    discard_file(temporary);
    throw output_error(path, error.message(), kCheckFolder);
  }
  forget_unfinished(temporary);
  sync(path.has_parent_path() ? path.parent_path() : fs::path("."), O_RDONLY | O_DIRECTORY);
}

void discard_file(const fs::path& temporary) {
  std::error_code ignored;
  fs::remove(temporary, ignored);
  forget_unfinished(temporary);
}

fs::path incomplete_path(const fs::path& path) {
  fs::path name = path.stem();
  name += ".incomplete";
  name += path.extension();
  return path.parent_path() / name;
}

AtomicFile::AtomicFile(fs::path path) : path_(std::move(path)), temporary_(temporary_path(path_)) {
  out_.open(temporary_, std::ios::binary | std::ios::trunc);
  if (out_) return;
  const int reason = errno;
  forget_unfinished(temporary_);
  throw output_error(path_, std::strerror(reason), kCheckFolder);
}

AtomicFile::~AtomicFile() {
  if (!temporary_.empty()) discard_file(temporary_);
}

void AtomicFile::commit(bool complete) {
  out_.flush();
  if (!out_) throw output_error(path_, std::strerror(errno), kCheckFolder);
  out_.close();
  commit_file(std::exchange(temporary_, {}), complete ? path_ : incomplete_path(path_));
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
