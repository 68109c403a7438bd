// A file without a name that a test maps memory from, and what of a mapping is in memory.
//
//   const MappedFile file(1 << 20);
//   Arena arena(1 << 20, FileRange{.descriptor = file.descriptor()});
//   resident_of(arena.at(0, 1));         // bytes
#pragma once

#include <gtest/gtest.h>
#include <unistd.h>

#include <cstddef>
#include <cstdio>
#include <fstream>
#include <string>

namespace voxshard::test {

class MappedFile {
 public:
  explicit MappedFile(std::int64_t bytes) : file_(std::tmpfile()) {
    EXPECT_NE(file_, nullptr);
    EXPECT_EQ(::ftruncate(descriptor(), bytes), 0);
  }
  ~MappedFile() { std::fclose(file_); }
  MappedFile(const MappedFile&) = delete;
  MappedFile& operator=(const MappedFile&) = delete;
  int descriptor() const { return ::fileno(file_); }

 private:
  std::FILE* file_;
};

/// The resident bytes of this process's mapping that begins at `begin`, from /proc/self/smaps; -1: not found.
inline std::int64_t resident_of(const std::byte* begin) {
  char wanted[32];
  std::snprintf(wanted, sizeof wanted, "%lx-", reinterpret_cast<unsigned long>(begin));
  std::ifstream maps("/proc/self/smaps");
  bool here = false;
  for (std::string line; std::getline(maps, line);) {
    if (line.find('-') != std::string::npos && line.find(" r") != std::string::npos) here = line.starts_with(wanted);
    if (here && line.starts_with("Rss:")) return std::stoll(line.substr(4)) * 1024;
  }
  return -1;
}

}  // namespace voxshard::test
