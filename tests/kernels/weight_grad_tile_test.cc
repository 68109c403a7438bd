// The outer products of our own weight gradient (libcore/kernels/convolution/weight_grad_tile.h).
#include "libcore/kernels/convolution/weight_grad_tile.h"

#include "libcore/kernels/convolution/conv_kernels.h"
#include "tests/kernels/conv_scene.h"
#include "tests/kernels/use_target.h"

namespace voxshard {
namespace {

using namespace test;

Case few_channels(std::int64_t ci, std::int64_t co) {
  return case_of(
      {.kernel = {3, 5, 7}, .stride = {1, 2, 2}, .dilation = {1, 1, 1}, .pad_lo = {1, 2, 3}, .pad_hi = {1, 2, 2}},
      {5, 11, 18}, ci, co, 2);
}

Place gradient_of(const Case& c, const Operands& o) {
  Place d_w = place(DType::kF32, Box::whole(c.weights()));
  run_kernel(*fast::make_tiled_weight_grad(c.window, c.weights()), {o.x.view, o.d_y.view}, d_w.view);
  return d_w;
}

TEST(WeightGradTile, EveryInstructionSetGivesTheSameBits) {
  for (std::int64_t ci : {1, 3, 7, 8, 20})
    for (std::int64_t co : {5, 16, 48}) {
      const Case c = few_channels(ci, co);
      const Operands o(c, DType::kF32, 0, false);
      const Place widest = gradient_of(c, o);
      const UseTarget narrow(HWY_AVX2 | kPlainTarget);
      expect_same_bits(widest.view, gradient_of(c, o).view, c.name);
    }
}

TEST(WeightGradTile, TapsOfFewChannelsAreRowsOfOnePanel) {
  for (std::int64_t ci : {1, 2, 3, 5, 7}) {
    const Case c = few_channels(ci, 20);
    const Operands o(c, DType::kF32, 0, true);
    Place wanted = place(DType::kF32, Box::whole(c.weights()));
    run_kernel(*make_conv_weight_grad(KernelSet::kReference, c.window, c.weights(), DType::kF32),
               {o.x.view, o.d_y.view}, wanted.view);
    expect_same_bits(wanted.view, gradient_of(c, o).view, c.name);
  }
}

}  // namespace
}  // namespace voxshard
