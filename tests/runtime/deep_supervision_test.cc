// Losses of coarser decoder levels: their sum is that of the losses built one by one, with nnU-Net's weights; other
// graphs than that of the training have none of it.
#include "libcore/graph/text.h"
#include "tests/expect_error.h"
#include "tests/runtime/weighted_losses.h"

namespace voxshard::test {
namespace {

constexpr double kThird = 1.0 / 3;

/// Without norms: no parameter has a gradient that is zero but for rounding.
UNetConfig supervised(int depth) {
  return {.base_filters = 2, .depth = depth, .norm = NormKind::kNone, .deep_supervision = true};
}

TEST(SupervisedLevels, AreHalvedNormalisedAndLackTheCoarsest) {
  for (int depth = 1; depth <= 3; ++depth) EXPECT_EQ(supervised_levels(depth), std::vector<double>{1});
  const std::vector<double> four = supervised_levels(4), six = supervised_levels(6);
  ASSERT_EQ(four.size(), 2u);
  EXPECT_DOUBLE_EQ(four[0], 2 * kThird);
  EXPECT_DOUBLE_EQ(four[1], kThird);
  ASSERT_EQ(six.size(), 4u);
  EXPECT_DOUBLE_EQ(six[0], 8.0 / 15);
  EXPECT_DOUBLE_EQ(six[3], 1.0 / 15);
}

TEST(SupervisedLevels, LossAndGradientsAreTheWeightedSumOfThoseBuiltOneByOne) {
  for (const int depth : {4, 5}) {
    const std::vector<double> weights = supervised_levels(depth);
    std::map<std::string, double> losses;
    for (std::size_t d = 0; d < weights.size(); ++d)
      losses[d == 0 ? "loss" : "loss/level" + std::to_string(d)] = weights[d];
    expect_weighted_sum({.extents = {2, 16, 18, 15}, .partition = "1x2x1x2x1", .config = supervised(depth)}, losses);
  }
}

TEST(SupervisedLevels, LabelsAreOneVoxelOfEachBlockCutAsTheLogits) {
  const SceneOptions o{.extents = {1, 16, 13, 8}, .partition = "1x2x2x1x1", .config = supervised(5)};
  const Graph graph = scene_graph(o, o.extents, true);
  for (const int level : {1, 2}) {
    const Node& labels = graph.node(graph.find("labels/level" + std::to_string(level)));
    EXPECT_EQ(labels.op, "subsample");
    EXPECT_EQ(labels.inputs, std::vector{graph.find("labels")});
    EXPECT_EQ(labels.type.dtype, DType::kI32);
    EXPECT_EQ(attrs_of<ResizeAttrs>(labels.attrs).factor, Dims::filled(3, std::int64_t{1} << level));
    EXPECT_EQ(leading(labels.type.shape), leading(graph.node(labels.follows).type.shape));
  }
}

TEST(SupervisedLevels, AreInTheTrainingGraphAlone) {
  UNetConfig with = supervised(4), without = with;
  without.deep_supervision = false;
  const auto text = [](const UNetConfig& config, const GraphOptions& options) {
    return to_text(build_unet(config, options, op_table()));
  };
  const GraphOptions predicting{.size = {16, 16, 16}, .training = false};
  GraphOptions evaluating = predicting, training = predicting;
  evaluating.evaluating = true, training.training = true;
  EXPECT_EQ(text(with, predicting), text(without, predicting));
  EXPECT_EQ(text(with, evaluating), text(without, evaluating));
  EXPECT_NE(text(with, training), text(without, training));
}

TEST(SupervisedLevels, WithoutALevelAreRefused) {
  expect_error(ErrorKind::kConfig, "has no level to supervise at depth 3", [] {
    build_unet(supervised(3), {.size = {16, 16, 16}}, op_table());
  });
}

}  // namespace
}  // namespace voxshard::test
