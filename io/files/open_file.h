// Opens files safely. Only regular files are opened for reading, because opening a named pipe blocks until somebody
// writes, and a device may never end. Links are not followed for appending, because somebody else may have put one
// there. No other code opens files (tests/structure); libraries that open by name do so after require_regular_file().
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
  /// Returns a path to the open file, for libraries that open by name: "/proc/self/fd/7".
  std::string path() const { return "/proc/self/fd/" + std::to_string(number_); }

 private:
  int number_;
};

/// Returns the reason why `path` cannot be read as a file: "cannot be read: it is a named pipe ...", "cannot be read:
/// Permission denied"; empty when it can. Follows links.
std::string reading_problem(const std::filesystem::path& path);
/// Throws kInput with reading_problem() when there is one.
void require_regular_file(const std::filesystem::path& path);
/// Opens a file for blocking reads. Errors: kInput as require_regular_file.
Descriptor open_regular_file(const std::filesystem::path& path);

/// The bytes of a regular file as a stream. The stream is in a failed state from the start when there is a problem().
class InputFile : public std::istream {
 public:
  explicit InputFile(const std::filesystem::path& path);
  /// The text of reading_problem(); empty when the file could be opened.
  const std::string& problem() const { return problem_; }
  /// The size of the file when it was opened.
  std::int64_t bytes() const { return bytes_; }

 private:
  std::string problem_;
  std::int64_t bytes_ = 0;
  __gnu_cxx::stdio_filebuf<char> buffer_;
};

/// A stream that writes to an open file and owns it.
class OutputStream : public std::ostream {
 public:
  explicit OutputStream(Descriptor file);
  /// Passes everything written on to the system and closes the file; a failure sets the stream's fail bit.
  void close();

 private:
  __gnu_cxx::stdio_filebuf<char> buffer_;
};

/// Opens a regular file to append to; creates it if `may_create`, never through a link. On failure the descriptor is
/// empty and errno says why.
Descriptor open_to_append(const std::filesystem::path& path, bool may_create = false);

/// Opens a file without a name in a folder, for reading and writing by this process alone; it goes when it is closed.
/// On failure the descriptor is empty and errno says why.
Descriptor open_nameless(const std::filesystem::path& folder);

/// Appends all of `text`, or leaves the file as long as it was. Returns the error number; 0 when all is written.
///   sync  also waits until it is on the disk
int append_to_file(const std::filesystem::path& path, std::string_view text, bool sync = false,
                   bool may_create = false);

}  // namespace voxshard
