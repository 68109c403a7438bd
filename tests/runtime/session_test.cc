// Plans of many sizes: as many as fit are kept, the most recently requested ones, and results do not depend on it.
#include <gtest/gtest.h>

#include "tests/runtime/unet_scene.h"

namespace voxshard::test {
namespace {

Shape size_of(std::int64_t depth) { return {1, depth, 8, 8}; }

TEST(Session, PlansBeyondWhatIsKeptAreEvictedTheOneAskedForLongestAgoFirst) {
  UNetScene scene({});
  Session& session = scene.session;
  const std::int64_t one = session.bytes(size_of(8), Phase::kPredict).kept;
  EXPECT_GT(one, 0);
  session.keep_plans(3 * one);
  for (const std::int64_t depth : {8, 16, 8, 24, 32, 40}) {
    session.plan(size_of(depth), Phase::kPredict);
    EXPECT_LE(session.kept_plans(), 3u);
  }
  session.keep_plans(1);
  EXPECT_EQ(session.kept_plans(), 1u) << "the newest stays";
  EXPECT_EQ(session.bytes(size_of(8), Phase::kPredict).kept, one) << "what a plan takes is known when it is gone";
  EXPECT_EQ(session.kept_plans(), 1u) << "and is not planned again for it";
}

TEST(Session, ThePlanOfTheCoreSetStays) {
  UNetScene scene({});
  Session& session = scene.session;
  session.keep_plans(1);
  CoreSet& cores = session.cores(scene.extents, Phase::kPredict);
  for (const std::int64_t depth : {8, 16, 24}) session.plan(size_of(depth), Phase::kPredict);
  EXPECT_EQ(session.kept_plans(), 2u);
  EXPECT_EQ(&session.cores(scene.extents, Phase::kPredict), &cores);
  cores.feed(cores.executable().program.graph.find("image"),
             [&](const TensorView& box) { copy(scene.image.view(), box); });
  cores.run();
  session.release();
  session.keep_plans(1);
  EXPECT_EQ(session.kept_plans(), 1u);
}

TEST(Session, APlanThatIsMadeAgainGivesTheSameBits) {
  const auto trained = [](std::int64_t most_bytes) {
    UNetScene scene({});
    scene.session.keep_plans(most_bytes);
    Trainer trainer = scene.trainer({}, 4);
    double loss = 0;
    for (int step = 0; step < 4; ++step) {
      loss = trainer.step(scene.extents, scene.feed()).loss;
      scene.session.release();
      scene.session.plan(size_of(8 + 8 * step), Phase::kPredict);
    }
    return loss;
  };
  EXPECT_EQ(trained(0), trained(1));
}

}  // namespace
}  // namespace voxshard::test
