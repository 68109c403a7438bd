// Dense layers: one product over the samples, from whole samples in place, from parts of larger ones, and in blocks.
#include "libcore/kernels/convolution/conv_kernels.h"
#include "tests/kernels/conv_scene.h"

namespace voxshard {
namespace {

using namespace test;

std::vector<Case> dense_cases() {
  const auto dense = [](const Dims& sample, std::int64_t ci, std::int64_t co, std::int64_t batch) {
    Window w = window_of(sample.axes(), 1, 1, 1, 0, 0);
    w.kernel = w.stride = sample;
    return case_of(w, sample, ci, co, batch);
  };
  return {dense({7, 7}, 64, 200, 9), dense({1, 1}, 200, 10, 64), dense({3, 2, 5}, 17, 33, 5), dense({4, 5}, 1, 16, 3),
          dense({2, 2, 2}, 16, 16, 1)};
}

ConvUse use_of(const Case& c, ConvPass pass, DType dtype) {
  return {.pass = pass,
          .window = c.window,
          .weights = c.weights(),
          .over = pass == ConvPass::kInputGrad ? c.x_box().extent : c.y_box().extent,
          .dtype = dtype};
}

/// The inputs and the result of a call of one pass, with or without a bias.
struct Pass {
  ConvPass pass;
  std::vector<TensorView> inputs;
  Box result;
  DType type;
  std::int64_t terms;
};

std::vector<Pass> passes(const Case& c, const Operands& o, const TensorView& bias_of_x, DType type) {
  const std::int64_t taps = c.window.volume();
  return {{ConvPass::kForward, {o.x.view, o.w.view}, c.y_box(), type, taps * c.ci},
          {ConvPass::kForward, {o.x.view, o.w.view, o.bias.view}, c.y_box(), type, taps * c.ci},
          {ConvPass::kInputGrad, {o.d_y.view, o.w.view}, c.x_box(), type, c.co},
          {ConvPass::kInputGrad, {o.d_y.view, o.w.view, bias_of_x}, c.x_box(), type, c.co},
          {ConvPass::kWeightGrad, {o.x.view, o.d_y.view}, Box::whole(c.weights()), DType::kF32, c.batch}};
}

TEST(DenseLayer, IsKnownByItsWindowAndTheShapeOfASample) {
  const Case c = dense_cases()[0];
  for (const ConvPass pass : {ConvPass::kForward, ConvPass::kInputGrad, ConvPass::kWeightGrad}) {
    EXPECT_TRUE(fast::is_dense_layer(use_of(c, pass, DType::kF32)));
    ConvUse two = use_of(c, pass, DType::kF32);
    two.over[1] *= 2;
    EXPECT_FALSE(fast::is_dense_layer(two)) << "two windows";
    ConvUse padded = use_of(c, pass, DType::kF32);
    padded.window.pad_lo[0] = 1;
    EXPECT_FALSE(fast::is_dense_layer(padded));
  }
}

TEST(DenseLayer, EqualsTheReferenceInPlaceAndInsideOfLargerTensors) {
  for (const Case& c : dense_cases())
    for (const DType type : {DType::kF32, DType::kBF16})
      for (const std::int64_t margin : {0, 2}) {
        const Operands o(c, type, margin, false);
        const Place bias = random(DType::kF32, Box::whole({c.ci}), kSeed);
        for (const Pass& p : passes(c, o, bias.view, type)) {
          const ConvUse use = use_of(c, p.pass, type);
          const std::int64_t around = p.pass == ConvPass::kWeightGrad ? 0 : margin;
          Place fast = place(p.type, p.result, around), slow = place(p.type, p.result);
          run_kernel(*make_conv(KernelSet::kFast, choose_conv(use), use), p.inputs, fast.view);
          run_kernel(*make_conv(KernelSet::kReference, ConvKernel::kReference, use), p.inputs, slow.view);
          expect_close(
              slow.view, fast.view, sum_tolerance(p.type, p.terms),
              c.name + " pass " + std::to_string(static_cast<int>(p.pass)) + " margin " + std::to_string(margin));
        }
      }
}

TEST(DenseLayer, OfSomeSamplesOrOfAPartOfThemIsThatPartOfTheWhole) {
  for (const Case& c : dense_cases())
    for (const DType type : {DType::kF32, DType::kBF16}) {
      const Operands o(c, type, 0, false);
      const Place bias = random(DType::kF32, Box::whole({c.ci}), kSeed);
      for (const Pass& p : passes(c, o, bias.view, type)) {
        if (p.pass == ConvPass::kWeightGrad) continue;
        const ConvUse use = use_of(c, p.pass, type);
        const auto kernel = make_conv(KernelSet::kFast, choose_conv(use), use);
        Place whole = place(type, p.result);
        run_kernel(*kernel, p.inputs, whole.view);
        for (std::int64_t from = 0; from < c.batch; from += 2) {
          Box block = p.result;
          block.set(0, from, std::min(from + 2, c.batch));
          if (p.pass == ConvPass::kInputGrad) block.set(1, 0, ceil_div(block.extent[1], 2));
          Place part = place(type, block);
          run_kernel(*kernel, p.inputs, part.view);
          expect_same_sums(whole.view, part.view, p.terms, c.name + " " + to_string(block));
        }
      }
    }
}

}  // namespace
}  // namespace voxshard
