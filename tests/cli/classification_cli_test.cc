// `demo --task classification`, train, predict and evaluate of classes, as a user runs them.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/cli/run_voxshard.h"

namespace voxshard {
namespace {

using testing::HasSubstr;

TEST(ClassificationCli, FromTheDemoToTheScores) {
  Folder folder("classes");
  const auto demo = run_voxshard("demo " + (folder / "set") + " --task classification --cases 200 --test 30 --json");
  ASSERT_EQ(demo.exit_code, 0) << demo.err;
  EXPECT_EQ(demo.json().at("test_cases"), 30);
  const auto info = run_voxshard("info " + (folder / "set") + " --json");
  EXPECT_EQ(info.json().at("class_sets").at(0).at("parts").at(0).at("items"), 200);
  const std::string train =
      "train " + (folder / "set") + " -o " + (folder / "run") +
      " --model digits --batch 20 --partition 1x4x1x1 --precision f32 --checkpoint-every 5 --json";
  const auto trained = run_voxshard(train + " --steps 10");
  ASSERT_EQ(trained.exit_code, 0) << trained.err;
  EXPECT_EQ(trained.json().at("validation_cases"), 30);
  EXPECT_TRUE(trained.json().at("mean_accuracy").is_number());
  const auto more = run_voxshard("train --resume " + (folder / "run") + " --steps 12 --json");
  EXPECT_EQ(more.json().at("steps"), 12) << more.err;
  const auto predicted = run_voxshard("predict " + (folder / "run") + " " + (folder / "set") + " -o " +
                                      (folder / "found.json") + " --json");
  ASSERT_EQ(predicted.exit_code, 0) << predicted.err;
  EXPECT_EQ(predicted.json().at("cases").size(), 30u);
  EXPECT_THAT(file_text(folder / "found.csv"), HasSubstr("file,class,probability,p(0),p(1)"));
  const std::string evaluate = "evaluate " + (folder / "found.json") + " " + (folder / "set");
  const auto scored = run_voxshard(evaluate + " -o " + (folder / "scores.json") + " --png " +
                                   (folder / "confusion.png") + " --top-k 3 --json");
  ASSERT_EQ(scored.exit_code, 0) << scored.err;
  auto scores = scored.json();
  EXPECT_EQ(scores.at("accuracy"), more.json().at("best_accuracy"))
      << "the best checkpoint predicts what it was validated on";
  EXPECT_GE(scores.at("top_3"), scores.at("accuracy"));
  EXPECT_GT(scores.at("memory").at("planned").at("libraries"), 0) << "the codecs of the image";
  scores.erase("memory");  // not in the file
  EXPECT_EQ(nlohmann::json::parse(file_text(folder / "scores.json")), scores);
  EXPECT_TRUE(std::filesystem::exists(folder / "confusion.png"));
  const std::string text = run_voxshard(evaluate).out;
  EXPECT_THAT(text, HasSubstr("expected calibration error"));
  for (const auto& one : scores.at("classes")) {
    const std::string line = "\nmissed: " + one.at("name").get<std::string>() + ": recall 0.000 over all\n";
    EXPECT_EQ(text.find(line) != std::string::npos, one.at("recall") == 0) << line << text;
  }
}

TEST(ClassificationCli, WhatIsWrongHasItsExitCode) {
  Folder folder("classes_bad");
  std::filesystem::create_directories(folder / "one/red");
  folder.write("one/red/a.png", "no picture");
  const std::string digits = " --model digits --steps 1 -o " + (folder / "run") + " --json";
  const auto none = run_voxshard("train " + (folder / "one") + digits);
  EXPECT_EQ(none.exit_code, 4) << none.out;
  const auto nowhere = run_voxshard("train " + (folder / "nowhere") + digits);
  EXPECT_EQ(nowhere.exit_code, 3) << nowhere.out;
  folder.write("train-images-idx3-ubyte", "short");
  folder.write("train-labels-idx1-ubyte", "short");
  const auto cut = run_voxshard("train " + (folder / "") + digits);
  EXPECT_EQ(cut.exit_code, 3);
  EXPECT_THAT(cut.json().at("error").at("message").get<std::string>(), HasSubstr("train-images-idx3-ubyte"));
  EXPECT_EQ(run_voxshard("train " + (folder / "one") + digits + " --flip W").exit_code, 2)
      << "an option of another task";
  folder.write("found.json", R"({"task": "classification", "classes": ["a"]})");
  EXPECT_EQ(run_voxshard("evaluate " + (folder / "found.json") + " " + (folder / "one")).exit_code, 3);
}

}  // namespace
}  // namespace voxshard
