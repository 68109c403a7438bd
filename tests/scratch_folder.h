// An empty folder for a test, removed with its contents at the end.
//
//   const ScratchFolder folder("records");
//   run_voxshard("info " + (folder / "a.nii"));       write_bytes(folder.path() / "a.nii", bytes);
#pragma once

#include <stdlib.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <optional>
#include <string>
#include <system_error>

namespace voxshard {

class ScratchFolder {
 public:
  /// `name`: a part of the folder's name, for people who look at it while the test runs.
  explicit ScratchFolder(const std::string& name = "test",
                         const std::filesystem::path& parent = std::filesystem::temp_directory_path()) {
    std::string path = parent / ("voxshard_" + name + "_XXXXXX");
    if (::mkdtemp(path.data()) == nullptr)
      throw std::filesystem::filesystem_error("mkdtemp", path, std::error_code(errno, std::generic_category()));
    path_ = path;
    std::filesystem::permissions(path_, std::filesystem::perms(0755));  // for tests that work as another user
  }
  ~ScratchFolder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  ScratchFolder(const ScratchFolder&) = delete;
  ScratchFolder& operator=(const ScratchFolder&) = delete;

  const std::filesystem::path& path() const { return path_; }
  std::string operator/(const std::string& name) const { return (path_ / name).string(); }
  void write(const std::string& name, const std::string& text) const { std::ofstream(path_ / name) << text; }
  /// Returns the number of files and folders in it.
  std::size_t files() const {
    return static_cast<std::size_t>(std::distance(std::filesystem::directory_iterator(path_), {}));
  }

 private:
  std::filesystem::path path_;
};

/// TMPDIR is an empty folder of its own during the lifetime.
class ScratchTmpdir {
 public:
  ScratchTmpdir() {
    if (const char* before = ::getenv(kName)) before_ = before;
    ::setenv(kName, room_.path().c_str(), 1);
  }
  ~ScratchTmpdir() { before_ ? ::setenv(kName, before_->c_str(), 1) : ::unsetenv(kName); }
  ScratchTmpdir(const ScratchTmpdir&) = delete;
  ScratchTmpdir& operator=(const ScratchTmpdir&) = delete;

  const std::filesystem::path& path() const { return room_.path(); }
  std::size_t files() const { return room_.files(); }

 private:
  static constexpr const char* kName = "TMPDIR";
  std::optional<std::string> before_;
  ScratchFolder room_{"tmpdir"};
};

/// Returns the contents of a file; empty when there is none.
inline std::string read_bytes(const std::filesystem::path& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

}  // namespace voxshard
