// Invariant 1: partitioned = unpartitioned, layer by layer and end to end; and a broken exchange is found and named.
#include "libcore/check/equivalence.h"

#include <gtest/gtest.h>

#include <atomic>

#include "libcore/models/unet.h"
#include "libcore/ops/op_table.h"
#include "tests/check/expect_equal.h"

namespace voxshard {
namespace {

using Case = test::GridCase;

EquivalenceOptions unet_options(UNetConfig config, Shape extents, const std::string& partition, DType dtype,
                                LossKind loss = LossKind::kDiceCE) {
  config.loss = loss;
  EquivalenceOptions options;
  Dims size;
  for (int a = 1; a < extents.axes(); ++a) size.push_back(extents[a]);
  options.factory = [=](DType type) {
    return build_unet(config, {.batch = extents[0], .size = size, .dtype = type}, op_table());
  };
  options.dtype = dtype;
  options.cut.mesh = {.partition = parse_partition(partition, extents.axes() + 1)};
  options.seed = 3;
  return options;
}

void expect_equal(const EquivalenceOptions& options) { test::expect_equal(options, {.layers = 50, .tensors = 20}); }

class EveryGrid : public testing::TestWithParam<Case> {};

TEST_P(EveryGrid, EqualsTheUncutModelInF32) {
  expect_equal(unet_options({.base_filters = 4}, GetParam().extents, GetParam().partition, DType::kF32));
}

TEST_P(EveryGrid, EqualsTheUncutModelInBf16) {
  expect_equal(unet_options({.base_filters = 4}, GetParam().extents, GetParam().partition, DType::kBF16));
}

TEST_P(EveryGrid, EqualsTheUncutModelWithAMarginalLoss) {
  for (const DType dtype : {DType::kF32, DType::kBF16})
    expect_equal(unet_options({.base_filters = 4, .classes = 5, .marginal = true}, GetParam().extents,
                              GetParam().partition, dtype));
}

INSTANTIATE_TEST_SUITE_P(Grids, EveryGrid,
                         testing::Values(Case{{1, 16, 16, 24}, "1x1x1x1x1"}, Case{{1, 16, 16, 24}, "1x2x1x1x1"},
                                         Case{{1, 16, 16, 24}, "1x2x2x2x1"}, Case{{1, 24, 16, 16}, "1x8x1x1x1"},
                                         Case{{1, 24, 8, 8}, "1x16x1x1x1"}, Case{{1, 16, 8, 16}, "1x4x2x2x1"},
                                         Case{{2, 16, 16, 8}, "2x2x2x1x1"}, Case{{1, 13, 11, 17}, "1x3x2x1x1"},
                                         Case{{3, 9, 10, 7}, "2x1x1x3x1"}, Case{{1, 17, 19, 9}, "1x6x1x2x1"}));

class EveryRecomputation : public testing::TestWithParam<std::tuple<Recompute, std::int64_t>> {};

TEST_P(EveryRecomputation, EqualsTheModelThatKeepsEverything) {
  for (const Case& c :
       {Case{{1, 32, 8, 8}, "1x16x1x1x1"}, Case{{1, 16, 8, 16}, "1x4x2x1x1"}, Case{{2, 13, 11, 17}, "2x3x1x2x1"}}) {
    SCOPED_TRACE(to_string(c.extents) + " over " + c.partition);
    auto options = unet_options({.base_filters = 4}, c.extents, c.partition, DType::kBF16);
    std::tie(options.cut.recompute, options.cut.thinnest_slab) = GetParam();
    expect_equal(options);
  }
}

INSTANTIATE_TEST_SUITE_P(Choices, EveryRecomputation,
                         testing::Combine(testing::ValuesIn(kRecomputeChoices), testing::Values(0, 2, 4)));

TEST(Equivalence, HoldsForRecomputationWithoutNormAndWithUpsampling) {
  for (Recompute recompute : {Recompute::kNorms, Recompute::kLevels}) {
    auto options = unet_options({.base_filters = 4, .norm = NormKind::kNone, .deconvolution = false}, {1, 12, 12, 16},
                                "1x2x2x1x1", DType::kF32);
    options.cut.recompute = recompute;
    expect_equal(options);
  }
}

TEST(Equivalence, HoldsForInstanceNormLeakyReluAndUpsampling) {
  const UNetConfig config{.base_filters = 4, .norm = NormKind::kInstance, .slope = 0.01, .deconvolution = false};
  expect_equal(unet_options(config, {2, 13, 12, 16}, "2x2x1x2x1", DType::kF32, LossKind::kCrossEntropy));
}

TEST(Equivalence, HoldsWithoutNorm) {
  expect_equal(unet_options({.base_filters = 4, .norm = NormKind::kNone}, {1, 12, 12, 16}, "1x2x2x1x1", DType::kF32,
                            LossKind::kAdaptiveDice32));
}

class EveryGridOfSupervisedLevels : public testing::TestWithParam<Case> {};

TEST_P(EveryGridOfSupervisedLevels, EqualsTheUncutModel) {
  for (const DType dtype : {DType::kF32, DType::kBF16})
    for (const bool marginal : {false, true})
      expect_equal(unet_options({.base_filters = 4, .depth = 4, .marginal = marginal, .deep_supervision = true},
                                GetParam().extents, GetParam().partition, dtype));
}

INSTANTIATE_TEST_SUITE_P(Grids, EveryGridOfSupervisedLevels,
                         testing::Values(Case{{1, 16, 16, 24}, "1x2x1x1x1"}, Case{{1, 16, 16, 24}, "1x2x2x2x1"},
                                         Case{{1, 32, 8, 8}, "1x16x1x1x1"}, Case{{2, 16, 16, 8}, "2x2x2x1x1"},
                                         Case{{1, 13, 11, 17}, "1x3x2x1x1"}, Case{{1, 17, 19, 9}, "1x6x1x2x1"}));

TEST_P(EveryGridOfSupervisedLevels, EqualsTheUncutModelOfSeveralMembers) {
  for (const DType dtype : {DType::kF32, DType::kBF16})
    expect_equal(unet_options({.base_filters = 2, .depth = 4, .deep_supervision = true, .members = 2},
                              GetParam().extents, GetParam().partition, dtype));
}

TEST(Equivalence, HoldsForSupervisedLevelsThatAreRecomputedAndOfImagesWithValidPools) {
  const UNetConfig config{.base_filters = 4, .depth = 5, .deep_supervision = true};
  auto options = unet_options(config, {1, 32, 16, 16}, "1x4x2x1x1", DType::kF32);
  options.cut.recompute = Recompute::kLevels;
  expect_equal(options);
  UNetConfig valid = config;
  valid.pool = Pooling::kValid;
  expect_equal(unet_options(valid, {2, 37, 29}, "1x3x2x1", DType::kF32, LossKind::kGeneralizedDice));
}

TEST(Equivalence, HoldsForImages) {
  expect_equal(unet_options({.base_filters = 4}, {2, 37, 29}, "1x3x2x1", DType::kF32));
}

TEST(Equivalence, HoldsForReplicasWithTheirOwnNorm) {
  auto options = unet_options({.base_filters = 4}, {4, 8, 8, 16}, "1x2x1x1x1", DType::kF32);
  options.cut.mesh.replicas = 2;
  options.factory = [](DType type) {
    return build_unet({.base_filters = 4},
                      {.batch = 4, .size = {8, 8, 16}, .dtype = type, .training = true, .norm_replicas = 2},
                      op_table());
  };
  expect_equal(options);
}

TEST(Equivalence, HoldsForReplicasWithTheirOwnLoss) {
  auto options = unet_options({.base_filters = 4}, {4, 8, 8, 16}, "1x2x1x1x1", DType::kF32);
  options.cut.mesh.replicas = 2;
  options.factory = [](DType type) {
    return build_unet({.base_filters = 4, .loss = LossKind::kAdaptiveDice32},
                      {.batch = 4, .size = {8, 8, 16}, .dtype = type, .norm_replicas = 2, .loss_replicas = 2},
                      op_table());
  };
  expect_equal(options);
}

class EveryLossOfASample : public testing::TestWithParam<LossKind> {};

TEST_P(EveryLossOfASample, EqualsTheUncutModel) {
  expect_equal(unet_options({.base_filters = 4}, {2, 13, 12, 16}, "2x2x1x2x1", DType::kF32, GetParam()));
}

INSTANTIATE_TEST_SUITE_P(Kinds, EveryLossOfASample,
                         testing::Values(LossKind::kDice, LossKind::kGeneralizedDice, LossKind::kHamming,
                                         LossKind::kJaccard, LossKind::kTversky));

TEST(Equivalence, HoldsForPoolingThatDropsTheLastPlane) {
  for (const Case& c :
       {Case{{1, 27, 19, 33}, "1x4x1x2x1"}, Case{{2, 17, 22, 9}, "2x3x2x1x1"}, Case{{1, 41, 8, 8}, "1x16x1x1x1"}})
    expect_equal(unet_options({.base_filters = 4, .pool = Pooling::kValid}, c.extents, c.partition, DType::kF32));
}

/// Damages one element of the `victim`-th exchange copy that is started.
class DamagingTransport : public InProcessTransport {
 public:
  explicit DamagingTransport(int victim) : victim_(victim) {}
  void copy(std::int64_t from, std::int64_t to, const TensorView& src, const TensorView& dst) override {
    InProcessTransport::copy(from, to, src, dst);
    if (started_++ == victim_) store(dst, 0, load(dst, 0) + 1);
  }

 private:
  std::atomic<int> started_{0};
  int victim_;
};

TEST(Equivalence, ADamagedExchangeIsNamedAtItsLayer) {
  WorkerPool pool(1);
  auto options = unet_options({.base_filters = 4}, {1, 16, 8, 16}, "1x2x1x1x1", DType::kF32);
  DamagingTransport transport(2);  // image: 2 copies; the next belongs to the first activation
  options.transport = &transport;
  const EquivalenceReport report = check_equivalence(options, pool);
  ASSERT_FALSE(report.equal());
  EXPECT_EQ(report.first_difference->layer, "encoder0/conv0/norm");
  EXPECT_EQ(report.first_difference->what, "margin");
}

/// Loses every copy: the margins keep their old contents.
class LosingTransport : public InProcessTransport {
  void copy(std::int64_t, std::int64_t, const TensorView&, const TensorView&) override {}
};

TEST(Equivalence, ALostExchangeIsFound) {
  WorkerPool pool(2);
  auto options = unet_options({.base_filters = 4}, {1, 16, 8, 16}, "1x2x1x1x1", DType::kF32);
  LosingTransport transport;
  options.transport = &transport;
  const EquivalenceReport report = check_equivalence(options, pool);
  ASSERT_FALSE(report.equal());
  EXPECT_EQ(report.first_difference->layer, "image");
}

}  // namespace
}  // namespace voxshard
