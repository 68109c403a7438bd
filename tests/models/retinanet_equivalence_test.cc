// RetinaNet cut = RetinaNet uncut, layer by layer and end to end: odd sizes, levels of fewer cells than cores, replicas
// with norms and losses of their own, targets placed by the rule of the original.
#include <gtest/gtest.h>

#include "libcore/check/equivalence.h"
#include "libcore/models/retinanet.h"
#include "libcore/ops/op_table.h"
#include "tests/check/expect_equal.h"
#include "tests/models/placed_targets.h"

namespace voxshard {
namespace {

using RetinaGrid = test::GridCase;

EquivalenceOptions options_of(const RetinaNetConfig& config, const Shape& extents, const std::string& partition,
                              DType dtype) {
  EquivalenceOptions options;
  options.factory = [=](DType type) {
    return build_retinanet(config, {.batch = extents[0], .size = {extents[1], extents[2]}, .dtype = type}, op_table());
  };
  options.dtype = dtype;
  options.cut.mesh = {.partition = parse_partition(partition, 4)};
  options.seed = 3;
  return options;
}

void expect_equal(const EquivalenceOptions& options) { test::expect_equal(options, {.layers = 400, .tensors = 300}); }

const RetinaNetConfig kNarrowNet{.backbone = Backbone::kResNet18, .classes = 4, .filters = 4, .pyramid_filters = 8};

class EveryGrid : public testing::TestWithParam<RetinaGrid> {};

TEST_P(EveryGrid, EqualsTheUncutModelInF32) {
  expect_equal(options_of(kNarrowNet, GetParam().extents, GetParam().partition, DType::kF32));
}

TEST_P(EveryGrid, EqualsTheUncutModelInBf16) {
  expect_equal(options_of(kNarrowNet, GetParam().extents, GetParam().partition, DType::kBF16));
}

INSTANTIATE_TEST_SUITE_P(Grids, EveryGrid,
                         testing::Values(RetinaGrid{{1, 160, 192}, "1x4x2x1"}, RetinaGrid{{1, 233, 311}, "1x2x2x1"},
                                         RetinaGrid{{1, 117, 156}, "1x3x1x1"}, RetinaGrid{{2, 96, 64}, "2x2x1x1"},
                                         RetinaGrid{{1, 64, 96}, "1x1x8x1"}, RetinaGrid{{1, 65, 33}, "1x4x4x1"},
                                         RetinaGrid{{3, 47, 81}, "2x1x3x1"}));

TEST(RetinaNetEquivalence, HoldsForBottlenecks) {
  expect_equal(options_of({.classes = 3, .filters = 4, .pyramid_filters = 8}, {1, 96, 130}, "1x2x2x1", DType::kF32));
}

TEST(RetinaNetEquivalence, HoldsForGiou) {
  RetinaNetConfig config = kNarrowNet;
  config.box_loss = BoxLossKind::kGiou;
  for (const RetinaGrid& grid :
       {RetinaGrid{{1, 160, 192}, "1x4x2x1"}, RetinaGrid{{1, 117, 156}, "1x3x1x1"}, RetinaGrid{{3, 47, 81}, "2x1x3x1"}})
    for (const DType dtype : {DType::kF32, DType::kBF16})
      expect_equal(options_of(config, grid.extents, grid.partition, dtype));
}

TEST(RetinaNetEquivalence, HoldsForManyClassesWhoseGradientsLieInAFewChannels) {
  RetinaNetConfig config = kNarrowNet;
  config.classes = 43;  // 387 channels: the same order of additions on every processor
  expect_equal(options_of(config, {1, 160, 192}, "1x4x2x1", DType::kF32));
}

TEST(RetinaNetEquivalence, HoldsWhereTheLibraryAddsInAnOrderOfTheBlock) {
  RetinaNetConfig config = kNarrowNet;
  config.classes = 60;  // 540 channels: from 513 on oneDNN does so with AVX-512
  for (const DType dtype : {DType::kF32, DType::kBF16})
    expect_equal(options_of(config, {1, 96, 130}, "1x2x2x1", dtype));
}

TEST(RetinaNetEquivalence, HoldsForReplicasWithTheirOwnNormAndLoss) {
  auto options = options_of(kNarrowNet, {4, 64, 48}, "1x2x1x1", DType::kF32);
  options.cut.mesh.replicas = 2;
  options.factory = [](DType type) {
    return build_retinanet(kNarrowNet, {.batch = 4, .size = {64, 48}, .dtype = type, .norm_replicas = 2}, op_table());
  };
  expect_equal(options);
}

TEST(RetinaNetEquivalence, HoldsForTargetsThatAreReplicatedByTheRuleOfTheOriginal) {
  auto options = options_of(kNarrowNet, {1, 160, 192}, "1x4x2x1", DType::kF32);
  // Only the first of the levels, which have 20x24, 10x12, 5x6, 3x3 and 2x2 cells, is cut.
  options.cut.inputs = test::placed_targets({.kind = InputPlacement::Kind::kWhereDivisible});
  expect_equal(options);
}

TEST(RetinaNetEquivalence, HoldsForRecomputation) {
  auto options = options_of(kNarrowNet, {1, 96, 64}, "1x2x2x1", DType::kBF16);
  options.cut.recompute = Recompute::kLevels;
  expect_equal(options);
}

/// Damages one element of the n-th copy between cores.
struct DamagingTransport : InProcessTransport {
  void copy(std::int64_t from, std::int64_t to, const TensorView& src, const TensorView& dst) override {
    InProcessTransport::copy(from, to, src, dst);
    if (started++ == 3) store(dst, 0, load(dst, 0) + 1);
  }
  std::atomic<int> started{0};
};

TEST(RetinaNetEquivalence, ADamagedExchangeIsFound) {
  WorkerPool pool(1);
  auto options = options_of(kNarrowNet, {1, 64, 64}, "1x2x1x1", DType::kF32);
  DamagingTransport transport;
  options.transport = &transport;
  const EquivalenceReport report = check_equivalence(options, pool);
  ASSERT_FALSE(report.equal());
  EXPECT_EQ(report.first_difference->what, "margin");
  EXPECT_TRUE(report.first_difference->layer.starts_with("backbone/")) << report.first_difference->layer;
}

}  // namespace
}  // namespace voxshard
