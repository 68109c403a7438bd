// Twenty steps of 1 to 4 ranks that host the same cores, eight of them for most models, end with the checkpoint of one
// process. Slow: seconds per model and number of ranks.
#include <gtest/gtest.h>

#include "tests/mpi/launch.h"

namespace voxshard {
namespace {

using test::built, test::launch, test::Launched, test::mpirun;

/// The test parameter is the name of a training of rank_program.
class SlowRanks : public testing::TestWithParam<std::string> {};

TEST_P(SlowRanks, TwentyStepsWriteTheCheckpointOfOneProcess) {
  if (const auto why = test::without_mpi()) GTEST_SKIP() << *why;
  const ScratchFolder folder;
  const auto run = [&](const std::string& launcher, const std::string& file) {
    const Launched r = launch(launcher + built("rank_program") + " " + GetParam() + " " + (folder / file) + " -1 20");
    EXPECT_EQ(r.exit_code, 0) << launcher << r.err;
    return read_bytes(folder / file);
  };
  const std::string alone = run("", "alone");
  ASSERT_GT(alone.size(), 1000u);
  for (const int ranks : {1, 2, 3, 4})
    EXPECT_TRUE(run(mpirun(ranks), std::to_string(ranks)) == alone) << ranks << " ranks";
}

INSTANTIATE_TEST_SUITE_P(Scenes, SlowRanks,
                         testing::Values("unet", "unet_bf16", "unet_uneven", "unet_replicas", "classifier",
                                         "classifier_bf16", "retinanet", "retinanet_bf16"),
                         [](const auto& scene) { return std::string(scene.param); });

}  // namespace
}  // namespace voxshard
