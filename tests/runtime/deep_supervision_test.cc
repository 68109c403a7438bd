// Losses of coarser decoder levels: their sum is that of the losses built one by one, with nnU-Net's weights; other
// graphs than that of the training have none of it.
#include <numeric>

#include "libcore/graph/text.h"
#include "tests/expect_error.h"
#include "tests/runtime/rank_scene.h"

namespace voxshard::test {
namespace {

constexpr double kThird = 1.0 / 3;

/// Without norms: no parameter has a gradient that is zero but for rounding.
UNetConfig supervised(int depth) {
  return {.base_filters = 2, .depth = depth, .norm = NormKind::kNone, .deep_supervision = true};
}

/// A training by the loss with that name.
RankScene by_loss(const std::string& loss, const SceneOptions& o) {
  RankScene scene = unet_scene(o);
  scene.build = [o, loss] {
    Graph graph = scene_graph(o, o.extents, true);
    graph.outputs["loss"] = graph.find(loss);
    return graph;
  };
  return scene;
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
    const SceneOptions o{.extents = {2, 16, 18, 15}, .partition = "1x2x1x2x1", .config = supervised(depth)};
    const RankOutcome all = train_as_rank(unet_scene(o), nullptr, 1);
    const std::vector<double> weights = supervised_levels(depth);
    double loss = 0;
    std::map<std::string, std::vector<double>> sums, sizes;
    for (std::size_t d = 0; d < weights.size(); ++d) {
      const std::string name = d == 0 ? "loss" : "loss/level" + std::to_string(d);
      const RankOutcome one = train_as_rank(by_loss(name, o), nullptr, 1);
      EXPECT_GT(one.losses[0], 0);
      loss += weights[d] * one.losses[0];
      for (const auto& [parameter, gradient] : one.gradients) {
        auto& sum = sums[parameter];
        auto& size = sizes[parameter];
        sum.resize(static_cast<std::size_t>(gradient.count())), size.resize(sum.size());
        for (std::size_t i = 0; i < sum.size(); ++i) {
          const double term = weights[d] * gradient.as<const float>()[i];
          sum[i] += term, size[i] += std::abs(term);
        }
      }
    }
    EXPECT_NEAR(all.losses[0], loss, 1e-12 * loss);  // f64 sums of equal values
    ASSERT_EQ(sums.size(), all.gradients.size());
    for (const auto& [parameter, gradient] : all.gradients) {
      // Both are f32 sums over voxels of terms whose largest is about the largest gradient: the bound is that of a sum
      // as long as the voxels, on the scale of the layer.
      const std::vector<double>& size = sizes.at(parameter);
      const double largest = *std::ranges::max_element(size);
      for (std::int64_t i = 0; i < gradient.count(); ++i)
        ASSERT_NEAR(gradient.as<const float>()[i], sums.at(parameter)[static_cast<std::size_t>(i)],
                    0x1p-24 * static_cast<double>(element_count(o.extents)) * largest + 1e-7)
            << parameter << " " << i;
    }
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
