// A prepared data set that many suites begin with is made once in a run of tests/run.sh, which names a folder for it in
// VOXSHARD_TEST_SCENES, and each scene works on a copy of its own. Without that folder each scene makes its own.
//
//   copy_prepared("small", folder.path(), [](const fs::path& place) { ...writes place / "data" and place / "work"...
//   });
#pragma once

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/file.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <functional>
#include <string>

#include "tests/scratch_folder.h"

namespace voxshard {

/// Holds a lock among all processes during its lifetime.
class SceneLock {
 public:
  explicit SceneLock(const std::string& path) : file_(::open(path.c_str(), O_CREAT | O_RDWR | O_CLOEXEC, 0600)) {
    EXPECT_EQ(::flock(file_, LOCK_EX), 0) << path;
  }
  ~SceneLock() { ::close(file_); }
  SceneLock(const SceneLock&) = delete;
  SceneLock& operator=(const SceneLock&) = delete;

 private:
  int file_;
};

/// Leaves in `place` the folders "data" and "work" that `make` writes into the folder that it is given: a data set, and
/// what `prepare` made of it. `name`: of all scenes that `make` the same.
inline void copy_prepared(const std::string& name, const std::filesystem::path& place,
                          const std::function<void(const std::filesystem::path&)>& make) {
  namespace fs = std::filesystem;
  const char* scenes = std::getenv("VOXSHARD_TEST_SCENES");
  if (scenes == nullptr) return make(place);
  const fs::path shared = fs::path(scenes) / name;
  {
    const SceneLock lock(shared.string() + ".lock");
    if (!fs::exists(shared / "work/dataset.json")) {  // which prepare writes last
      fs::remove_all(shared);
      fs::create_directories(shared);
      make(shared);
    }
  }
  const std::string from = shared.string() + "/", to = place.string() + "/";
  ASSERT_EQ(std::system(("cp -a '" + from + "data' '" + from + "work' '" + to + "'").c_str()), 0) << from;
  const fs::path record = place / "work/run.json";  // it alone names folders: those of the copy
  std::string text = read_bytes(record);
  for (std::size_t at = 0; (at = text.find(from, at)) != std::string::npos; at += to.size())
    text.replace(at, from.size(), to);
  std::ofstream(record) << text;
}

}  // namespace voxshard
