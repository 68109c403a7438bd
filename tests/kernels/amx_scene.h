// AMX kernels in tests: run with exactly the workspace they ask for.
#pragma once

#include "libcore/kernels/amx/convolution.h"
#include "libcore/kernels/amx/processor.h"
#include "libcore/kernels/amx/weight_gradient.h"
#include "tests/kernels/winograd_scene.h"

namespace voxshard::test {

/// Skips on processors that cannot run them.
class AmxTest : public ::testing::Test {
 protected:
  void SetUp() override {
    if (!amx::available()) GTEST_SKIP() << "this processor, or its system, has no AMX tiles";
  }
};

/// Packs block by block and computes dst from result block `first_block` on.
inline void run_amx(const amx::ConvolutionSpec& spec, std::vector<TensorView> src, const TensorView& weights,
                    const TensorView* bias, const TensorView& dst, std::int64_t first_block = 0) {
  const amx::Convolution conv(spec);
  const Guarded packed(conv.packed_bytes());
  for (std::int64_t b = conv.out_blocks() - 1; b >= 0; --b) conv.pack(weights, b, b + 1, packed.data());
  packed.check();
  const Guarded workspace(conv.workspace_bytes(dst.box));
  conv.run({.src = src,
            .bias = bias,
            .dst = dst,
            .first_block = first_block,
            .packed = packed.data(),
            .workspace = workspace.data()});
  workspace.check();
}

/// All of d_w, task by task.
inline void run_amx_gradient(const amx::WeightGradientSpec& spec, std::vector<TensorView> x, const TensorView& d_y,
                             const TensorView& d_w) {
  const amx::WeightGradient grad(spec);
  for (const amx::ChannelRange& range : grad.tasks()) {
    const Guarded workspace(grad.workspace_bytes(range, d_y.box));
    grad.run({.x = x, .d_y = d_y, .d_w = d_w, .range = range, .workspace = workspace.data()});
    workspace.check();
  }
}

}  // namespace voxshard::test
