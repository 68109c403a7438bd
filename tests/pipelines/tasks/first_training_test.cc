// The training of two minutes that demo and prepare suggest.
#include "pipelines/tasks/first_training.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace voxshard {
namespace {

using testing::ElementsAre;

TEST(FirstTraining, EndsWithTheTimeAndSaysWhatItLeavesOut) {
  const FirstTraining first =
      first_training({"train", "work", "{output}", "run"}, {"{base-filters}", "8", "{fold}", "all"});
  EXPECT_THAT(first.words,
              ElementsAre("train", "work", "{output}", "run", "{base-filters}", "8", "{fold}", "all", "{time}", "2m"));
  EXPECT_EQ(first.note,
            "a first training of about 2 min; leave out {base-filters}, {fold} and {time} for the whole model\n");
}

TEST(FirstTraining, AStepTakesLongerWithTheVoxelsAndTheSquareOfTheFilters) {
  const double seconds = unet_step_seconds(32, 64 * 64 * 64, 2);
  EXPECT_NEAR(seconds, 2.2, 1e-9) << "as measured (data/README.md)";
  EXPECT_NEAR(unet_step_seconds(16, 64 * 64 * 64, 2), seconds / 4, 1e-9);
  EXPECT_NEAR(unet_step_seconds(32, 2 * 64 * 64 * 64, 4), seconds, 1e-9);
}

TEST(FirstTraining, AUNetIsAsWideAsTheMachineAndTheDataAllow) {
  const FirstVolumes phantoms{.cases = 12, .voxels = std::int64_t{12} * 64 * 64 * 64};
  const auto on = [&](int threads) {
    FirstVolumes volumes = phantoms;
    volumes.threads = threads;
    return first_unet(volumes);
  };
  EXPECT_THAT(on(1), ElementsAre("{base-filters}", "8"));
  EXPECT_THAT(on(2), ElementsAre("{base-filters}", "8"));
  EXPECT_THAT(on(8), ElementsAre("{base-filters}", "16"));
  EXPECT_THAT(on(64), ElementsAre("{base-filters}", "32"));
}

TEST(FirstTraining, CasesWhoseValidationWouldTakeTheTimeAllTrain) {
  const std::int64_t ct = std::int64_t{300} * 512 * 512;
  EXPECT_THAT(first_unet({.threads = 2, .cases = 40, .voxels = 40 * ct}),
              ElementsAre("{base-filters}", "8", "{fold}", "all"));
  EXPECT_THAT(first_unet({.threads = 2, .cases = 1, .voxels = ct}), ElementsAre("{base-filters}", "8"))
      << "one case validates nothing";
}

}  // namespace
}  // namespace voxshard
