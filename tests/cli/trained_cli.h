// A demo data set, prepared at 8 mm and trained for two steps, made once per suite, or copied (prepared_copy.h); for
// tests of the command line.
#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/cli/run_voxshard.h"
#include "tests/prepared_copy.h"

namespace voxshard {

class TrainedCli : public ::testing::Test {
 protected:
  static constexpr const char* kModel = " --base-filters 4 --depth 3 --precision f32 ";
  static constexpr const char* kTraining = " --crop 16x16x16 --steps 2 --fold all ";
  static void SetUpTestSuite() {
    folder_ = new Folder("trained");
    copy_prepared("cli", folder_->path(), [](const std::filesystem::path& place) {
      const std::string to = place.string();
      ASSERT_EQ(run_voxshard("demo " + to + "/data --cases 2 --test 1 --quiet").exit_code, 0);
      ASSERT_EQ(run_voxshard("prepare " + to + "/data -o " + to + "/work --spacing 8,8,8 --quiet").exit_code, 0);
    });
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
