// Dropout: the share that it drops, the scale of the rest, and the dependencies of its mask.
#include <gtest/gtest.h>

#include "libcore/graph/attributes.h"
#include "libcore/kernels/kernel.h"
#include "libcore/ops/op_table.h"

namespace voxshard {
namespace {

constexpr double kRate = 0.4;
constexpr std::int64_t kCount = 20000;

/// Returns dropout of ones, with the draw (seed, step) and the layer's stream.
std::vector<float> dropped(KernelSet set, std::int64_t seed, std::int64_t step, std::int64_t stream) {
  const OpTable ops = op_table();
  const std::vector<TensorType> types{{DType::kF32, {4, kCount / 4}}, {DType::kI32, {2}}};
  const Attributes attrs = DropoutAttrs{.rate = kRate, .stream = stream};
  const OpDef& def = ops.at("dropout");
  const OpContext op{attrs, types, def.infer(attrs, types)};
  Tensor x(DType::kF32, types[0].shape), draw(DType::kI32, {2}), y(DType::kF32, types[0].shape);
  std::fill_n(x.as<float>(), kCount, 1.0F);
  store(draw.view(), 0, static_cast<double>(seed)), store(draw.view(), 1, static_cast<double>(step));
  const std::vector<TensorView> inputs{x.view(), draw.view()};
  def.kernel(op, set)->run({.inputs = inputs, .output = y.view()});
  return {y.as<float>(), y.as<float>() + kCount};
}

TEST(Dropout, DropsItsRateAndScalesWhatStays) {
  for (const KernelSet set : {KernelSet::kReference, KernelSet::kFast}) {
    const std::vector<float> y = dropped(set, 3, 17, 5);
    std::int64_t zeros = 0;
    for (const float value : y) {
      if (value == 0) {
        ++zeros;
      } else {
        EXPECT_FLOAT_EQ(value, static_cast<float>(1 / (1 - kRate)));
      }
    }
    EXPECT_NEAR(static_cast<double>(zeros) / kCount, kRate, 0.02) << "six deviations";
  }
}

TEST(Dropout, TheMaskIsOfTheSeedTheStepAndTheLayer) {
  const auto alike = [](const std::vector<float>& a, const std::vector<float>& b) {
    std::int64_t same = 0;
    for (std::size_t i = 0; i < a.size(); ++i) same += a[i] == b[i] ? 1 : 0;
    return static_cast<double>(same) / kCount;
  };
  const auto one = dropped(KernelSet::kFast, 3, 17, 5);
  EXPECT_EQ(one, dropped(KernelSet::kReference, 3, 17, 5));
  const double independent = kRate * kRate + (1 - kRate) * (1 - kRate);
  EXPECT_NEAR(alike(one, dropped(KernelSet::kFast, 4, 17, 5)), independent, 0.02) << "another seed";
  EXPECT_NEAR(alike(one, dropped(KernelSet::kFast, 3, 18, 5)), independent, 0.02) << "another step";
  EXPECT_NEAR(alike(one, dropped(KernelSet::kFast, 3, 17, 6)), independent, 0.02) << "another layer";
}

}  // namespace
}  // namespace voxshard
