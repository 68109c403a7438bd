#include "io/files/atomic_file.h"

#include <fcntl.h>
#include <sys/random.h>
#include <unistd.h>

#include <cctype>
#include <cerrno>
#include <climits>
#include <cstdint>
#include <cstring>
#include <random>
#include <regex>
#include <utility>
#include <vector>

#include "io/files/file_error.h"
#include "io/files/unfinished_files.h"

namespace voxshard {
namespace {

namespace fs = std::filesystem;

constexpr const char* kCheckFolder = "check that the folder exists, is writable and has space";

constexpr const char* kCheckDisk = "check the disk and its file system";

/// The prefix of the names that make_temporary_file() makes and is_temporary() recognises.
constexpr std::string_view kTemporary = ".tmp.";

/// The error number of the first call that failed; 0 when all is on the disk.
int sync(const fs::path& path, int flags) {
  const int fd = ::open(path.c_str(), flags | O_CLOEXEC);
  if (fd < 0) return errno;
  int failed = 0;
  while (failed == 0 && ::fsync(fd) != 0)
    if (errno != EINTR) failed = errno;
  if (::close(fd) != 0 && failed == 0) failed = errno;
  return failed;
}

/// Returns true for the errors of file systems that cannot sync a folder; nothing more can be done there.
bool has_no_folder_sync(int error) { return error == EINVAL || error == ENOTSUP; }

/// Returns the host name for use in file names: letters, digits and _, at most 16. It is there because a process on
/// another machine may have the same id.
const std::string& machine_name() {
  static const std::string name = [] {
    char text[256] = {};
    ::gethostname(text, sizeof text - 1);
    std::string short_name;
    for (const char* at = text; *at != 0 && short_name.size() < 16; ++at)
      short_name += std::isalnum(static_cast<unsigned char>(*at)) ? *at : '_';
    return short_name;
  }();
  return name;
}

/// 16 hexadecimal digits that nobody can guess.
std::string random_part() {
  std::uint64_t bits = 0;
  if (::getrandom(&bits, sizeof bits, 0) != static_cast<ssize_t>(sizeof bits)) {  // some kernels filter the call
    std::random_device device;
    bits = std::uint64_t{device()} << 32 | device();
  }
  std::string digits;
  for (int shift = 60; shift >= 0; shift -= 4) digits += "0123456789abcdef"[bits >> shift & 15];
  return digits;
}

/// Returns the last `most_bytes` of a name that is too long to follow the prefix; they keep the extensions.
std::string end_of(const std::string& name, std::size_t most_bytes) {
  if (name.size() <= most_bytes) return name;
  std::size_t begin = name.size() - most_bytes;
  while (begin < name.size() && (static_cast<unsigned char>(name[begin]) & 0xc0) == 0x80) ++begin;  // inside a letter
  return name.substr(begin);
}

fs::path temporary_path(const fs::path& path) {
  const std::string mark =
      std::string(kTemporary) + machine_name() + "-" + std::to_string(::getpid()) + "-" + random_part() + ".";
  return path.parent_path() / (mark + end_of(path.filename().string(), NAME_MAX - mark.size()));
}

}  // namespace

TemporaryFile make_temporary_file(const fs::path& path, bool only_owner) {
  fs::path temporary = temporary_path(path);
  note_unfinished(temporary);
  Descriptor file(
      ::open(temporary.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, only_owner ? 0600 : 0666));
  if (file.number() >= 0) return {std::move(temporary), std::move(file)};
  const int reason = errno;
  forget_unfinished(temporary);
  throw output_error(path, std::strerror(reason), kCheckFolder);
}

bool is_temporary(const fs::path& path) {
  static const std::regex kName(R"(\.tmp\.[A-Za-z0-9_]*-[0-9]+-[0-9a-f]{16}\..+)");
  return std::regex_match(path.filename().string(), kName);
}

void commit_file(const fs::path& temporary, const fs::path& path) {
  const auto give_up = [&](const std::string& what, const char* action) {
    discard_file(temporary);
    throw output_error(path, what, action);
  };
  std::error_code unseen;
  const bool folder_itself = fs::is_directory(temporary, unseen);
  if (const int error = sync(temporary, O_RDONLY); error != 0 && !(folder_itself && has_no_folder_sync(error)))
    give_up(std::string("it cannot be synced to the disk: ") + std::strerror(error), kCheckDisk);
  std::error_code error;
  fs::rename(temporary, path, error);
  if (error) give_up(error.message(), kCheckFolder);
  forget_unfinished(temporary);
  if (const std::error_code failed = sync_folder(path.has_parent_path() ? path.parent_path() : fs::path(".")))
    throw output_error(path, "its folder cannot be synced to the disk: " + failed.message(), kCheckDisk);
}

std::error_code sync_folder(const fs::path& folder) {
  const int failed = sync(folder, O_RDONLY | O_DIRECTORY);
  return {has_no_folder_sync(failed) ? 0 : failed, std::generic_category()};
}

std::error_code sync_tree(const fs::path& path) {
  std::error_code error;
  const fs::file_status status = fs::symlink_status(path, error);
  if (error || !(fs::is_directory(status) || fs::is_regular_file(status))) return error;
  if (fs::is_regular_file(status)) return {sync(path, O_RDONLY | O_NOFOLLOW), std::generic_category()};
  for (fs::directory_iterator it(path, error), end; !error && it != end; it.increment(error))
    if (const std::error_code failed = sync_tree(it->path())) return failed;
  return error ? error : sync_folder(path);
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

void remove_incomplete(const fs::path& path) {
  std::error_code ignored;  // a file that stays does no harm
  fs::remove(incomplete_path(path), ignored);
}

AtomicFile::AtomicFile(fs::path path, bool only_owner) : AtomicFile(path, make_temporary_file(path, only_owner)) {}

AtomicFile::AtomicFile(fs::path path, TemporaryFile temporary)
    : path_(std::move(path)), temporary_(std::move(temporary.path)), out_(std::move(temporary.file)) {}

AtomicFile::~AtomicFile() {
  if (!temporary_.empty()) discard_file(temporary_);
}

void AtomicFile::commit(bool complete) {
  out_.flush();
  if (!out_) throw output_error(path_, std::strerror(errno), kCheckFolder);
  out_.close();
  if (!out_) throw output_error(path_, std::strerror(errno), kCheckFolder);
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

void write_private_text(const fs::path& path, std::string_view text) {
  AtomicFile file(path, true);
  file.stream() << text;
  file.commit();
}

}  // namespace voxshard
