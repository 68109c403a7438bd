// Keeps track of the files that are being decoded, for the crash message of a process that dies inside a library: ITK,
// OpenCV, libtiff and FFmpeg decode in this process, so a file that crashes one of them ends the run, and the user has
// to know which file to leave out.
//
//   note_crashes(STDERR_FILENO);                   // once, by apps
//   const NowReading reading(path);                // while a library has the file
#pragma once

#include <filesystem>
#include <string>

namespace voxshard {

/// Notes that this thread reads `path` until the end of the scope. Threads: any number at once; beyond 64 files at a
/// time the others are not noted.   Cost: a copy of at most 255 characters.
class NowReading {
 public:
  explicit NowReading(const std::filesystem::path& path);
  ~NowReading();
  NowReading(const NowReading&) = delete;
  NowReading& operator=(const NowReading&) = delete;

 private:
  int slot_ = -1;
};

/// Until the end of the scope, what this thread reads is noted under another name: a file's own may be that of a
/// patient.
///   const ReadingAs name("case_0003");
class ReadingAs {
 public:
  explicit ReadingAs(std::string name);
  ~ReadingAs();
  ReadingAs(const ReadingAs&) = delete;
  ReadingAs& operator=(const ReadingAs&) = delete;

 private:
  std::string name_;
  const std::string* before_;
};

/// Installs handlers for SIGSEGV, SIGBUS, SIGFPE, SIGILL and SIGABRT. They write to `file_descriptor` which files were
/// being read (by the crashed thread if it reads one, else by any thread) and what to do, or the signal when no file
/// was being read; then the signal ends the process as usual.
void note_crashes(int file_descriptor);

}  // namespace voxshard
