// Classes that were missed, in words.
#include "pipelines/model_runs/missed_classes.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>

namespace voxshard {
namespace {

using testing::ElementsAre;

constexpr double kNone = std::numeric_limits<double>::quiet_NaN();

TEST(MissedClasses, AreCountedOverTheCasesThatHaveAScore) {
  const std::vector<ScoresOfClass> classes = {{"Brain", 0.5, {0.5, 0.5, 0.5}},
                                              {"Aorta", 0.3, {0, 0.25, 0.5}},
                                              {"Cord", 0, {0, kNone, 0}},
                                              {"Node", kNone, {kNone, kNone, kNone}}};
  EXPECT_THAT(missed_classes(classes, {.metric = "dice"}),
              ElementsAre("Cord: dice 0.000 in 2 of 2 cases", "Aorta: dice 0.000 in 1 of 3 cases",
                          "Node: nothing of it validates, so its score is not known"));
  EXPECT_THAT(missed_classes(classes, {.metric = "dice", .unscored = ""}),
              ElementsAre("Cord: dice 0.000 in 2 of 2 cases", "Aorta: dice 0.000 in 1 of 3 cases"));
}

TEST(MissedClasses, WithoutCasesTheyAreMissedOverAll) {
  const std::vector<ScoresOfClass> classes = {{"cell", 0.7}, {"vessel", 0}};
  EXPECT_THAT(missed_classes(classes, {.metric = "ap50"}),
              ElementsAre("vessel: ap50 0.000 over everything that validates"));
}

TEST(MissedClasses, TenAreNamedAndTheOthersCounted) {
  EXPECT_EQ(missed_text({}), "");
  EXPECT_EQ(missed_text({"a: x"}), "missed: a: x\n");
  const std::string text = missed_text(std::vector<std::string>(12, "a: x"));
  EXPECT_TRUE(text.ends_with("missed: a: x\nmissed: 2 more\n")) << text;
}

}  // namespace
}  // namespace voxshard
