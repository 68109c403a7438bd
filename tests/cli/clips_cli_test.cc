// `demo --kind motion`, train, predict and evaluate of clips, as a user runs them.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/cli/run_voxshard.h"

namespace voxshard {
namespace {

using testing::HasSubstr;

TEST(ClipsCli, FromTheDemoToTheScores) {
  Folder folder("clips");
  const auto demo =
      run_voxshard("demo " + (folder / "set") + " --task classification --kind motion --cases 12 --test 6");
  ASSERT_EQ(demo.exit_code, 0) << demo.err;
  EXPECT_THAT(demo.out + demo.err, HasSubstr("--model r2plus1d18"));
  const auto info = run_voxshard("info " + (folder / "set") + " --json");
  const auto set = info.json().at("class_sets").at(0);
  EXPECT_EQ(set.at("holds"), "clips");
  EXPECT_EQ(set.at("parts").at(0).at("videos"), 12);
  EXPECT_EQ(set.at("parts").at(0).at("items"), 24) << "two clips of 16 frames in each video of 32";
  EXPECT_NEAR(set.at("parts").at(0).at("seconds").get<double>(), 12 * 32 / 25.0, 0.1);
  const auto trained = run_voxshard("train " + (folder / "set") + " -o " + (folder / "run") +
                                    " --model r2plus1d18 --base-filters 2 --clip-length 8 --stride 2 --colour grey" +
                                    " --batch 2 --steps 2 --partition 1x4x1x1x1 --precision f32 --json");
  ASSERT_EQ(trained.exit_code, 0) << trained.err;
  EXPECT_EQ(trained.json().at("train_cases"), 24);
  EXPECT_EQ(trained.json().at("validation_cases"), 12);
  const auto more = run_voxshard("train --resume " + (folder / "run") + " --steps 3 --json");
  EXPECT_EQ(more.json().at("steps"), 3) << more.err;
  const auto predicted = run_voxshard("predict " + (folder / "run") + " " + (folder / "set") + " -o " +
                                      (folder / "found.json") + " --hop 8 --draw " + (folder / "drawn") + " --json");
  ASSERT_EQ(predicted.exit_code, 0) << predicted.err;
  EXPECT_EQ(predicted.json().at("cases").size(), 6u) << "the videos of the test part";
  EXPECT_THAT(file_text(folder / "found.csv"), HasSubstr("file,start_s,end_s,class,probability"));
  EXPECT_TRUE(std::filesystem::exists(folder / "found.windows.csv"));
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(folder / "drawn"), {}) >= 6, true);
  const auto scored = run_voxshard("evaluate " + (folder / "found.json") + " " + (folder / "set") + " -o " +
                                   (folder / "scores.json") + " --json");
  ASSERT_EQ(scored.exit_code, 0) << scored.err;
  const auto scores = scored.json();
  EXPECT_EQ(scores.at("items"), 12) << "two clips in each";
  EXPECT_EQ(scores.at("videos").at("items"), 6);
  EXPECT_TRUE(scores.at("accuracy").is_number());
  EXPECT_NEAR(scores.at("time").at("labelled_s").get<double>(), 6 * 32 / 25.0, 0.1);
  EXPECT_EQ(scores.at("time").at("covered_s"), scores.at("time").at("labelled_s"));
}

TEST(ClipsCli, WhatIsWrongHasItsExitCode) {
  Folder folder("clips_bad");
  const auto demo = run_voxshard("demo " + (folder / "set") + " --kind motion");
  EXPECT_EQ(demo.exit_code, 2);
  EXPECT_THAT(demo.err, HasSubstr("segmentation has no kinds"));
  EXPECT_THAT(run_voxshard("demo " + (folder / "set") + " --task classification --kind waves").err,
              HasSubstr("classification has digits, motion"));
  ASSERT_EQ(
      run_voxshard("demo " + (folder / "set") + " --task classification --kind motion --cases 6 --test 0 -q").exit_code,
      0);
  const std::string train = "train " + (folder / "set") + " -o " + (folder / "run") + " --steps 1 --json --model ";
  EXPECT_EQ(run_voxshard(train + "r2plus1d18 --clip-length 64").exit_code, 4) << "every video is shorter";
  EXPECT_EQ(run_voxshard(train + "r2plus1d18 --clip-length 0").exit_code, 2);
  EXPECT_EQ(run_voxshard(train + "resnet18 --clip-length 8").exit_code, 2) << "pictures are no clips";
}

}  // namespace
}  // namespace voxshard
