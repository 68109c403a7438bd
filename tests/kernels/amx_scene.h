// AMX kernels in tests.
#pragma once

#include "libcore/kernels/amx/convolution.h"
#include "libcore/kernels/amx/processor.h"
#include "libcore/kernels/amx/weight_gradient.h"
#include "tests/kernels/blocked_scene.h"

namespace voxshard::test {

/// Skips on processors that cannot run them.
class AmxTest : public ::testing::Test {
 protected:
  void SetUp() override {
    if (!amx::available()) GTEST_SKIP() << "this processor, or its system, has no AMX tiles";
  }
};

inline void run_amx(const amx::ConvolutionSpec& spec, std::vector<TensorView> src, const TensorView& weights,
                    const TensorView* bias, const TensorView& dst, std::int64_t first_block = 0) {
  run_blocks(amx::Convolution(spec), std::move(src), weights, bias, dst, first_block);
}

inline void run_amx_gradient(const amx::WeightGradientSpec& spec, std::vector<TensorView> x, const TensorView& d_y,
                             const TensorView& d_w) {
  const amx::WeightGradient grad(spec);
  run_ranges(grad, grad.tasks(), std::move(x), d_y, d_w);
}

}  // namespace voxshard::test
