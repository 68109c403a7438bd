// A demo data set, prepared at 8 mm and trained for two steps, made once per suite; for tests of the command line. The
// suites of one run of tests/run.sh share a making of the prepared data set: VOXSHARD_TEST_SCENES is the folder where
// the first suite leaves it, and each works on a copy.
#pragma once

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/file.h>
#include <unistd.h>

#include "tests/cli/run_voxshard.h"

namespace voxshard {

class TrainedCli : public ::testing::Test {
 protected:
  static constexpr const char* kModel = " --base-filters 4 --depth 3 --precision f32 ";
  static constexpr const char* kTraining = " --crop 16x16x16 --steps 2 --fold all ";
  static void SetUpTestSuite() {
    folder_ = new Folder("trained");
    const char* scenes = std::getenv("VOXSHARD_TEST_SCENES");
    ASSERT_NO_FATAL_FAILURE(scenes == nullptr ? make_prepared(*folder_ / "") : copy_prepared(scenes));
    ASSERT_EQ(run_voxshard("train " + work() + " -o " + run() + kModel + kTraining + "--quiet").exit_code, 0);
  }
  static void TearDownTestSuite() {
    delete folder_;
    folder_ = nullptr;
  }
  static std::string data() { return *folder_ / "data"; }
  static std::string work() { return *folder_ / "work"; }
  static std::string run() { return *folder_ / "run"; }
  inline static Folder* folder_ = nullptr;

 private:
  static void make_prepared(const std::string& place) {
    ASSERT_EQ(run_voxshard("demo " + place + "data --cases 2 --test 1 --quiet").exit_code, 0);
    ASSERT_EQ(run_voxshard("prepare " + place + "data -o " + place + "work --spacing 8,8,8 --quiet").exit_code, 0);
  }
  /// Copies the prepared data set from the folder of scenes, with its times; the first process makes it there.
  static void copy_prepared(const std::string& scenes) {
    const std::string shared = scenes + "/prepared/", own = *folder_ / "", record = work() + "/run.json";
    const int lock = ::open((scenes + "/prepared.lock").c_str(), O_CREAT | O_RDWR | O_CLOEXEC, 0600);
    ASSERT_EQ(::flock(lock, LOCK_EX), 0) << scenes;
    if (!std::filesystem::exists(shared + "work/dataset.json")) {  // which prepare writes last
      std::filesystem::remove_all(shared);
      std::filesystem::create_directories(shared);
      make_prepared(shared);
    }
    ::close(lock);
    ASSERT_EQ(std::system(("cp -a " + shared + "data " + shared + "work " + own).c_str()), 0);
    std::string text = file_text(record);  // it alone names folders: those of the copy
    for (std::size_t at = 0; (at = text.find(shared, at)) != std::string::npos; at += own.size())
      text.replace(at, shared.size(), own);
    std::ofstream(record) << text;
  }
};

/// Expects a refusal with this exit code, kind and piece of the message; with --json also one document on standard
/// output.
inline void expect_refusal(const std::string& words, int code, const std::string& kind, const std::string& piece) {
  const CommandResult r = run_voxshard(words + " --json");
  EXPECT_EQ(r.exit_code, code) << words << "\n" << r.err;
  ASSERT_TRUE(r.json().contains("error")) << words << "\n" << r.out;
  EXPECT_EQ(r.error_kind(), kind) << words;
  EXPECT_EQ(r.json().at("error").at("exit_code"), code);
  EXPECT_THAT(r.err, testing::HasSubstr(piece)) << words;
}

}  // namespace voxshard
