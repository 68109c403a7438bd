// The check of single kernels has no gaps: a fault of a large layer, which is compared by a sum of its channels, is
// found at its layer, in f32 and in bf16; and layers that a limit leaves out are named.
#include "libcore/check/kernel_check.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "libcore/check/random_values.h"
#include "libcore/models/unet.h"
#include "libcore/tensor/rows.h"

namespace voxshard {
namespace {

constexpr std::int64_t kChannels = 8;
const KernelCheckOptions kBySums{.whole_flops = 0};

/// A U-Net that has run uncut; a fault is planted in the result of a layer after the next layers have read it.
class KernelCheckOfLargeLayers : public testing::TestWithParam<DType> {
 protected:
  void SetUp() override {
    graph_ = build_unet({.base_filters = kChannels, .depth = 2},
                        {.batch = 1, .size = {16, 12, 14}, .dtype = GetParam()}, op_table());
    parameters_ = random_parameters(graph_, 3);
    plan_ = lower(graph_, op_table(), {.mesh = {.partition = {1, 1, 1, 1, 1}}}, {.keep_all = true});
    cores_.emplace(plan_, op_table(), parameters_, pool_, transport_);
    feed(*cores_, random_inputs(graph_, GetParam(), 3));
    cores_->run();
  }

  ValueId id(const std::string& layer) const { return plan_.program.graph.find(layer); }
  TensorView result(const std::string& layer) const { return cores_->owned(id(layer), 0); }
  LayerReport check(const std::string& layer) {
    KernelCheckOptions options = kBySums;
    options.only = id(layer);
    return check_kernels(*cores_, op_table(), pool_, options);
  }
  void expect_found(const std::string& layer) {
    const LayerReport report = check(layer);
    ASSERT_TRUE(report.first_difference) << layer << ", at most " << report.widest_ratio << " of what is allowed";
    EXPECT_EQ(report.first_difference->layer, layer);
    EXPECT_EQ(report.first_difference->what, "kernel");
  }
  /// Changes the elements of a box of the result.
  static void change(const TensorView& all, const Box& box, const std::function<double(double)>& to) {
    for_each_row(box, [&](const Dims& at) {
      for (std::int64_t i = offset_at(all, at), end = i + row_count(box); i < end; ++i) store(all, i, to(load(all, i)));
    });
  }
  static Box channel(const TensorView& all, std::int64_t c) {
    Box box = all.box;
    box.set(box.axes() - 1, c, c + 1);
    return box;
  }

  WorkerPool pool_{2};
  InProcessTransport transport_;
  Graph graph_;
  Parameters parameters_;
  Executable plan_;
  std::optional<CoreSet> cores_;
};

const std::string kForward = "decoder0/conv0", kTransposed = "decoder0/up", kInputGrad = "grad/encoder0/conv1/input",
                  kWeightGrad = "grad/encoder0/conv1/weights";

TEST_P(KernelCheckOfLargeLayers, WithoutAFaultAllIsWithinWhatIsAllowedAndNothingIsLeftOut) {
  const LayerReport report = check_kernels(*cores_, op_table(), pool_, kBySums);
  EXPECT_FALSE(report.first_difference) << report.first_difference->layer << " " << report.first_difference->difference
                                        << " of " << report.first_difference->tolerance;
  EXPECT_GT(report.sampled, 10);
  EXPECT_THAT(report.left_out, testing::IsEmpty());
}

TEST_P(KernelCheckOfLargeLayers, AChannelTimes1_01IsFound) {
  for (const std::string& layer : {kForward, kTransposed, kInputGrad, kWeightGrad})
    for (std::int64_t c : {std::int64_t{0}, kChannels / 2, kChannels - 1}) {
      SCOPED_TRACE(layer + " " + std::to_string(c));
      const TensorView all = result(layer);
      Tensor kept(all.dtype, all.extent());
      copy(all, kept.view());
      change(all, channel(all, c), [](double v) { return 1.01 * v; });
      expect_found(layer);
      copy(kept.view(), all);
    }
}

TEST_P(KernelCheckOfLargeLayers, AnInputChannelOfAWeightGradientTimes1_01IsFound) {
  const TensorView all = result(kWeightGrad);
  Box box = all.box;
  box.set(3, 5, 6);
  change(all, box, [](double v) { return 1.01 * v; });
  expect_found(kWeightGrad);
}

TEST_P(KernelCheckOfLargeLayers, ATapOfAWeightGradientThatIsDroppedIsFound) {
  const TensorView all = result(kWeightGrad);
  Box tap = all.box;
  for (int a = 0; a < 3; ++a) tap.set(a, 1, 2);
  change(all, tap, [](double) { return 0; });
  expect_found(kWeightGrad);
}

TEST_P(KernelCheckOfLargeLayers, WeightGradientsThatAreZeroOrScaledAreFound) {
  const TensorView all = result(kWeightGrad);
  change(all, all.box, [](double v) { return 1.015 * v; });
  expect_found(kWeightGrad);
  change(all, all.box, [](double) { return 0; });
  expect_found(kWeightGrad);
}

TEST_P(KernelCheckOfLargeLayers, ATileOrTheLastPlaneThatIsNotWrittenIsFound) {
  for (const std::string& layer : {kForward, kInputGrad})
    for (bool tile : {true, false}) {
      SCOPED_TRACE(layer + (tile ? " tile" : " plane"));
      const TensorView all = result(layer);
      Tensor kept(all.dtype, all.extent());
      copy(all, kept.view());
      Box box = all.box;
      if (tile)
        for (int a = 1; a <= 3; ++a) box.set(a, 4, 8);
      else
        box.set(3, box.end(3) - 1, box.end(3));
      change(all, box, [](double) { return 0; });
      expect_found(layer);
      copy(kept.view(), all);
    }
}

TEST_P(KernelCheckOfLargeLayers, ExchangedInputChannelsAreFound) {
  const TensorView all = result(kWeightGrad);
  Box a = all.box, b = all.box;
  a.set(3, 1, 2), b.set(3, 2, 3);
  Tensor first(all.dtype, a.extent);
  TensorView held = first.view();
  held.box = a;
  copy(all, held);
  for_each_row(a, [&](const Dims& at) {
    Dims other = at;
    other[3] = 2;
    for (std::int64_t i = 0; i < row_count(a); ++i) {
      store(all, offset_at(all, at) + i, load(all, offset_at(all, other) + i));
      store(all, offset_at(all, other) + i, load(held, offset_at(held, at) + i));
    }
  });
  expect_found(kWeightGrad);
}

TEST_P(KernelCheckOfLargeLayers, WhatALimitLeavesOutIsNamedAndItsFaultIsMissed) {
  const TensorView all = result(kWeightGrad);
  change(all, all.box, [](double) { return 0; });
  const LayerReport report =
      check_kernels(*cores_, op_table(), pool_, {.left_out_flops = 1e3, .only = id(kWeightGrad)});
  EXPECT_FALSE(report.first_difference);
  EXPECT_THAT(report.left_out, testing::ElementsAre(kWeightGrad + " (conv_weight_grad)"));
}

INSTANTIATE_TEST_SUITE_P(Precisions, KernelCheckOfLargeLayers, testing::Values(DType::kF32, DType::kBF16),
                         [](const auto& at) { return std::string(dtype_name(at.param)); });

}  // namespace
}  // namespace voxshard
