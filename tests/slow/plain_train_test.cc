// Plain `train` learns: on generated phantoms, without an option about learning, its Dice is above that of the best HU
// thresholds, which the reference's settings do not reach in so few steps. Slow: it trains.
#include <gtest/gtest.h>

#include "tests/cli/run_voxshard.h"

namespace voxshard {
namespace {

TEST(SlowPlainTrain, IsBetterThanTheBestThresholds) {
  Folder folder("plain_train");
  ASSERT_EQ(run_voxshard("demo " + (folder / "data") + " --test 2 -q").exit_code, 0);
  ASSERT_EQ(run_voxshard("prepare " + (folder / "data") + " -o " + (folder / "work") + " -q").exit_code, 0);
  const CommandResult trained =
      run_voxshard("train " + (folder / "work") + " -o " + (folder / "run") + " --base-filters 4 --steps 110 -q");
  ASSERT_EQ(trained.exit_code, 0) << trained.err;
  ASSERT_EQ(run_voxshard("predict " + (folder / "run") + " " + (folder / "data/imagesTs") + " -o " + (folder / "pred") +
                         " -q")
                .exit_code,
            0);
  const CommandResult scored = run_voxshard("evaluate " + (folder / "pred") + " " + (folder / "data/labelsTs") +
                                            " --dataset " + (folder / "data") + " --baseline threshold --json -q");
  ASSERT_EQ(scored.exit_code, 0) << scored.err;
  EXPECT_GT(scored.json().at("mean_dice").get<double>(), scored.json().at("threshold_mean_dice").get<double>());
}

}  // namespace
}  // namespace voxshard
