// How files are opened: for reading only regular files, because a named pipe blocks whoever opens it until somebody
// writes, and a device may never end; for appending no links, because somebody else may have put one there. Nobody else
// opens a file (tests/structure), and libraries that open by name are asked to do so behind require_regular_file().
//
//   InputFile in(path);
//   if (!in) throw input_error(path, in.problem(), "check the path and its permissions");
//   gzFile gz = gzdopen(open_regular_file(path).release(), "rb");
#pragma once

#include <ext/stdio_filebuf.h>

#include <cstdint>
#include <filesystem>
#include <istream>
#include <ostream>
#include <string>
#include <string_view>
#include <utility>

namespace voxshard {

/// An open file that closes itself.
class Descriptor {
 public:
  explicit Descriptor(int number = -1) : number_(number) {}
  Descriptor(Descriptor&& other) noexcept : number_(other.release()) {}
  Descriptor& operator=(Descriptor&& other) noexcept;
  ~Descriptor();

  int number() const { return number_; }  // -1: none
  int release() { return std::exchange(number_, -1); }
  /// Another name of the same open file, for libraries that open by name: "/proc/self/fd/7".
  std::string path() const { return "/proc/self/fd/" + std::to_string(number_); }

 private:
  int number_;
};

/// What keeps `path` from being read as a file: "cannot be read: it is a named pipe ...", "cannot be read: Permission
/// denied"; empty when nothing does. Follows links.
std::string reading_problem(const std::filesystem::path& path);
/// Errors: kInput with reading_problem().
void require_regular_file(const std::filesystem::path& path);
/// For reading, by calls that wait for the disk. Errors: kInput as require_regular_file.
Descriptor open_regular_file(const std::filesystem::path& path);

/// The bytes of a regular file as a stream, which has failed from the beginning when there is a problem().
class InputFile : public std::istream {
 public:
  explicit InputFile(const std::filesystem::path& path);
  /// As reading_problem().
  const std::string& problem() const { return problem_; }
  /// Of the file as it was opened.
  std::int64_t bytes() const { return bytes_; }

 private:
  std::string problem_;
  std::int64_t bytes_ = 0;
  __gnu_cxx::stdio_filebuf<char> buffer_;
};

/// Text that is written to an open file, which the stream then owns.
class OutputStream : public std::ostream {
 public:
  explicit OutputStream(Descriptor file);
  /// What was written is with the system, or the stream has failed.
  void close();

 private:
  __gnu_cxx::stdio_filebuf<char> buffer_;
};

/// A regular file of ours, for lines at its end: made if `may_create`, never through a link. errno tells of a failure,
/// which gives no descriptor.
Descriptor open_to_append(const std::filesystem::path& path, bool may_create = false);

/// Appends all of `text`, or leaves the file as long as it was. Returns the error number of what failed; 0 when all is
/// written.
///   sync  also waits until it is on the disk
int append_to_file(const std::filesystem::path& path, std::string_view text, bool sync = false,
                   bool may_create = false);

}  // namespace voxshard
