// Which files are being decoded right now, for the last words of a process that crashes inside a library: ITK, OpenCV,
// libtiff and FFmpeg decode in this process, so a file that crashes one of them ends the run, and the person in front
// of it has to know which file to leave out.
//
//   note_crashes(STDERR_FILENO);                   // once, by apps
//   const NowReading reading(path);                // while a library has the file
#pragma once

#include <filesystem>

namespace voxshard {

/// Says that this thread reads `path` until the end of the scope. Threads: any number at once; beyond 64 files at a
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

/// From now on SIGSEGV, SIGBUS, SIGFPE, SIGILL and SIGABRT write to `file_descriptor` what was being read (by the
/// thread that crashed if it reads a file, else by any) and what to do, or without a file being read which of them it
/// was, and then end the process as they do.
void note_crashes(int file_descriptor);

}  // namespace voxshard
