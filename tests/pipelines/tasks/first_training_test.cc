// The training of two minutes that demo and prepare suggest.
#include "pipelines/tasks/first_training.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace voxshard {
namespace {

using testing::ElementsAre, testing::IsEmpty;

TEST(FirstTraining, EndsWithTheTimeAndSaysWhatItLeavesOut) {
  const FirstTraining first =
      first_training({"train", "work", "{output}", "run"}, {"{base-filters}", "8", "{fold}", "all"});
  EXPECT_THAT(first.words,
              ElementsAre("train", "work", "{output}", "run", "{base-filters}", "8", "{fold}", "all", "{time}", "2m"));
  EXPECT_EQ(first.note,
            "a first training of about 2 min; leave out {base-filters}, {fold} and {time} for the whole model\n");
}

TEST(FirstTraining, WithoutSettingsTheTimeAloneIsLeftOut) {
  EXPECT_EQ(first_training({"train", "work"}, {}).note,
            "a first training of about 2 min; leave out {time} for the whole model\n");
}

TEST(FirstTraining, CasesWhoseValidationWouldTakeTheTimeAllTrain) {
  const std::int64_t ct = std::int64_t{300} * 512 * 512;
  EXPECT_THAT(first_unet({.threads = 2, .cases = 40, .voxels = 40 * ct}), ElementsAre("{fold}", "all"));
  EXPECT_THAT(first_unet({.threads = 64, .cases = 40, .voxels = 40 * ct}), IsEmpty());
  EXPECT_THAT(first_unet({.threads = 1, .cases = 12, .voxels = std::int64_t{12} * 64 * 64 * 64}), IsEmpty());
  EXPECT_THAT(first_unet({.threads = 2, .cases = 1, .voxels = ct}), IsEmpty()) << "one case validates nothing";
}

}  // namespace
}  // namespace voxshard
