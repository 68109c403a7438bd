#include "io/files/open_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "io/files/file_error.h"

namespace voxshard {
namespace {

namespace fs = std::filesystem;

std::string problem_of(const struct stat& about) {
  switch (about.st_mode & S_IFMT) {
    case S_IFREG:
      return "";
    case S_IFDIR:
      return "cannot be read: it is a folder";
    case S_IFIFO:
      return "cannot be read: it is a named pipe or a process substitution, no regular file";
    case S_IFSOCK:
      return "cannot be read: it is a socket, no regular file";
    default:
      return "cannot be read: it is a device, no regular file";
  }
}

std::string not_opened() { return std::string("cannot be read: ") + std::strerror(errno); }

struct Opened {
  Descriptor file;
  std::string problem;
  std::int64_t bytes = 0;
};

/// Opens a file to read. It is checked before it is opened, because opening alone has an effect on some devices, and
/// again afterwards, because the path may have been replaced in between.
Opened open_to_read(const fs::path& path) {
  struct stat about {};
  if (::stat(path.c_str(), &about) != 0) return {.file = Descriptor(), .problem = not_opened()};
  if (std::string problem = problem_of(about); !problem.empty())
    return {.file = Descriptor(), .problem = std::move(problem)};
  Descriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY));
  if (file.number() < 0 || ::fstat(file.number(), &about) != 0) return {.file = Descriptor(), .problem = not_opened()};
  if (std::string problem = problem_of(about); !problem.empty())
    return {.file = Descriptor(), .problem = std::move(problem)};
  const int flags = ::fcntl(file.number(), F_GETFL);
  if (flags < 0 || ::fcntl(file.number(), F_SETFL, flags & ~O_NONBLOCK) != 0)
    return {.file = Descriptor(), .problem = not_opened()};
  return {.file = std::move(file), .problem = {}, .bytes = static_cast<std::int64_t>(about.st_size)};
}

}  // namespace

Descriptor& Descriptor::operator=(Descriptor&& other) noexcept {
  if (this != &other) Descriptor(std::exchange(number_, other.release()));
  return *this;
}

Descriptor::~Descriptor() {
  if (number_ >= 0) ::close(number_);
}

std::string reading_problem(const fs::path& path) { return open_to_read(path).problem; }

void require_regular_file(const fs::path& path) { open_regular_file(path); }

Descriptor open_regular_file(const fs::path& path) {
  Opened opened = open_to_read(path);
  if (!opened.problem.empty())
    throw input_error(path, opened.problem, "give a regular file, and check the path and its permissions");
  return std::move(opened.file);
}

InputFile::InputFile(const fs::path& path) : std::istream(nullptr) {
  Opened opened = open_to_read(path);
  problem_ = std::move(opened.problem), bytes_ = opened.bytes;
  if (problem_.empty()) buffer_ = {opened.file.release(), std::ios::in | std::ios::binary};
  init(&buffer_);
  if (!problem_.empty()) setstate(std::ios::failbit);
}

OutputStream::OutputStream(Descriptor file)
    : std::ostream(nullptr), buffer_(file.release(), std::ios::out | std::ios::binary) {
  init(&buffer_);
}

void OutputStream::close() {
  if (buffer_.close() == nullptr) setstate(std::ios::failbit);
}

Descriptor open_to_append(const fs::path& path, bool may_create) {
  const int flags = O_WRONLY | O_APPEND | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | (may_create ? O_CREAT : 0);
  Descriptor file(::open(path.c_str(), flags, 0666));
  struct stat about {};
  if (file.number() < 0 || ::fstat(file.number(), &about) != 0) return Descriptor();
  if (S_ISREG(about.st_mode)) return file;
  errno = EINVAL;
  return Descriptor();
}

Descriptor open_nameless(const std::filesystem::path& folder) {
  if (Descriptor file(::open(folder.c_str(), O_TMPFILE | O_RDWR | O_CLOEXEC, 0600)); file.number() >= 0) return file;
  if (errno != EOPNOTSUPP && errno != EISDIR && errno != ENOENT) return Descriptor();
  std::string name = (folder / ".tmp.nameless.XXXXXX").string();  // on file systems that make no file without a name
  Descriptor file(::mkostemp(name.data(), O_CLOEXEC));
  if (file.number() >= 0) ::unlink(name.c_str());
  return file;
}

int append_to_file(const fs::path& path, std::string_view text, bool sync, bool may_create) {
  const Descriptor file = open_to_append(path, may_create);
  if (file.number() < 0) return errno;
  const off_t end = ::lseek(file.number(), 0, SEEK_END);
  errno = ENOSPC;  // a short write sets none
  if (::write(file.number(), text.data(), text.size()) == static_cast<ssize_t>(text.size()) &&
      (!sync || ::fdatasync(file.number()) == 0))
    return 0;
  const int reason = errno;
  if (end >= 0 && ::ftruncate(file.number(), end) != 0) {
    // The torn line stays; readers skip a last line without a line end.
  }
  return reason;
}

}  // namespace voxshard
