// Convolution: hand-sized numbers, gradients by central differences, fast = reference over a grid.
#include "tests/kernels/conv_scene.h"

#include "libcore/kernels/convolution/conv_kernels.h"
#include "libcore/kernels/fast/onednn.h"

namespace voxshard {
namespace {

using namespace test;

std::vector<Case> cases() {
  std::vector<Case> all;
  auto add = [&](const Window& w, const Dims& spatial, std::int64_t ci, std::int64_t co, std::int64_t batch = 1) {
    all.push_back(case_of(w, spatial, ci, co, batch));
  };
  // Channels around the tiles of 8 and 16.
  for (std::int64_t ci : {1, 5, 6, 7, 8, 16, 17})
    for (std::int64_t co : {1, 3, 8, 15, 16, 17, 33}) add(window_of(3, 3, 1, 1, 1, 1), {4, 5, 6}, ci, co);
  for (int axes : {2, 3})
    for (std::int64_t kernel : {1, 2, 3})
      for (std::int64_t stride : {1, 2})
        for (std::int64_t dilation : {1, 2})
          for (std::int64_t lo : {0, 1})
            for (std::int64_t hi : {0, 2}) {
              const Dims spatial = axes == 2 ? Dims{9, 10} : Dims{7, 6, 9};
              add(window_of(axes, kernel, stride, dilation, lo, hi), spatial, 9, 12);
            }
  add(window_of(2, 7, 2, 1, 3, 2), {21, 18}, 3, 20);
  add(window_of(3, 7, 1, 1, 3, 3), {8, 7, 9}, 2, 9);
  add(window_of(3, 3, 3, 1, 0, 0), {9, 7, 8}, 4, 6, 2);
  add(window_of(3, 2, 2, 1, 0, 0), {8, 6, 10}, 16, 8, 2);
  add(window_of(3, 3, 1, 1, 1, 1), {1, 1, 1}, 32, 32, 3);
  add(window_of(3, 3, 1, 1, 1, 1), {2, 33, 31}, 16, 24, 2);
  add({.kernel = {1, 2, 2}, .stride = {1, 2, 2}, .dilation = {1, 1, 1}, .pad_lo = {0, 0, 0}, .pad_hi = {0, 0, 1}},
      {3, 6, 7}, 8, 16);
  add({.kernel = {1, 3, 3}, .stride = {1, 1, 1}, .dilation = {1, 1, 1}, .pad_lo = {0, 1, 1}, .pad_hi = {0, 1, 1}},
      {5, 6, 7}, 8, 16);
  add({.kernel = {3, 1, 2}, .stride = {2, 1, 3}, .dilation = {1, 2, 3}, .pad_lo = {2, 0, 1}, .pad_hi = {0, 1, 3}},
      {6, 5, 14}, 7, 5);
  add(window_of(3, 3, 1, 1, 1, 1), {0, 5, 6}, 4, 4);
  return all;
}

/// Runs both sets on equal inputs and compares: bit-equal for integers, within rounding otherwise.
void compare_sets(MakeKernel make, const Case& c, DType type, const std::vector<TensorView>& inputs, const Box& box,
                  DType out_type, std::int64_t margin, bool integers, std::int64_t terms) {
  Place fast = place(out_type, box, margin), slow = place(out_type, box);
  run_kernel(*make(KernelSet::kFast, c.window, c.weights(), type), inputs, fast.view);
  run_kernel(*make(KernelSet::kReference, c.window, c.weights(), type), inputs, slow.view);
  if (integers) {
    expect_same_bits(slow.view, fast.view, c.name);
  } else {
    expect_close(slow.view, fast.view, sum_tolerance(out_type, terms), c.name);
  }
}

void compare_all(const Case& c, DType type, std::int64_t margin, bool integers) {
  const Operands o(c, type, margin, integers);
  const std::int64_t taps = c.window.volume();
  compare_sets(forward, c, type, {o.x.view, o.w.view, o.bias.view}, c.y_box(), type, margin, integers, taps * c.ci);
  compare_sets(input_grad, c, type, {o.d_y.view, o.w.view}, c.x_box(), type, margin, integers, taps * c.co);
  if (c.y_box().empty()) return;
  compare_sets(make_conv_weight_grad, c, type, {o.x.view, o.d_y.view}, Box::whole(c.weights()), DType::kF32, 0,
               integers, c.y_box().count());
}

TEST(Conv, OneDimensionalSumsByHand) {
  const Window window{.kernel = {1, 3}, .stride = {1, 1}, .dilation = {1, 1}, .pad_lo = {0, 1}, .pad_hi = {0, 1}};
  Tensor x(DType::kF32, {1, 1, 4, 1}), w(DType::kF32, {1, 3, 1, 1}), bias(DType::kF32, {1}),
      y(DType::kF32, {1, 1, 4, 1});
  for (int i = 0; i < 4; ++i) x.as<float>()[i] = static_cast<float>(i + 1);
  w.as<float>()[0] = 1;
  w.as<float>()[1] = 10;
  w.as<float>()[2] = 100;
  bias.as<float>()[0] = 0.5F;
  for (KernelSet set : {KernelSet::kReference, KernelSet::kFast}) {
    run_kernel(*make_conv_forward(set, window, w.shape(), DType::kF32), {x.view(), w.view(), bias.view()}, y.view());
    EXPECT_EQ(std::vector<float>(y.as<float>(), y.as<float>() + 4),
              (std::vector<float>{210.5F, 321.5F, 432.5F, 43.5F}));
    // d_x[i] = sum_k d_y[i + 1 - k] w[k] with d_y = x.
    run_kernel(*make_conv_input_grad(set, window, w.shape(), DType::kF32), {x.view(), w.view()}, y.view());
    EXPECT_EQ(std::vector<float>(y.as<float>(), y.as<float>() + 4), (std::vector<float>{12, 123, 234, 340}));
    Tensor d_w(DType::kF32, w.shape());
    run_kernel(*make_conv_weight_grad(set, window, w.shape(), DType::kF32), {x.view(), x.view()}, d_w.view());
    EXPECT_EQ(std::vector<float>(d_w.as<float>(), d_w.as<float>() + 3), (std::vector<float>{20, 30, 20}));
  }
}

TEST(Conv, TransposedByTwoPutsEachInputInItsOwnCell) {
  const Window window{.kernel = {1, 2}, .stride = {1, 2}, .dilation = {1, 1}, .pad_lo = {0, 0}, .pad_hi = {0, 0}};
  Tensor d_y(DType::kF32, {1, 1, 2, 1}), w(DType::kF32, {1, 2, 1, 1}), d_x(DType::kF32, {1, 1, 4, 1});
  d_y.as<float>()[0] = 3;
  d_y.as<float>()[1] = 5;
  w.as<float>()[0] = 1;
  w.as<float>()[1] = 10;
  run_kernel(*make_conv_input_grad(KernelSet::kFast, window, w.shape(), DType::kF32), {d_y.view(), w.view()},
             d_x.view());
  EXPECT_EQ(std::vector<float>(d_x.as<float>(), d_x.as<float>() + 4), (std::vector<float>{3, 30, 5, 50}));
}

TEST(Conv, ReferenceGradientsMatchCentralDifferences) {
  std::vector<Case> some;
  for (const Window& w : {window_of(3, 3, 1, 1, 1, 1), window_of(3, 3, 2, 1, 0, 1), window_of(3, 2, 2, 1, 0, 0),
                          window_of(3, 2, 1, 2, 2, 1), window_of(3, 3, 2, 2, 3, 0)})
    some.push_back({"k" + to_string(w.kernel) + " s" + to_string(w.stride), w, {4, 5, 6}, 2, 3, 2});
  for (const Case& c : some) {
    Place x = random(DType::kF64, c.x_box(), kSeed), w = random(DType::kF64, Box::whole(c.weights()), kSeed + 1),
          g = random(DType::kF64, c.y_box(), kSeed + 2), y = place(DType::kF64, c.y_box()),
          d_x = place(DType::kF64, c.x_box()), d_w = place(DType::kF64, w.view.box);
    auto value = [&] {
      reference::conv_forward(x.view, w.view, nullptr, y.view, c.window);
      return dot(y.view, g.view);
    };
    reference::conv_input_grad(g.view, w.view, nullptr, d_x.view, c.window);
    reference::conv_weight_grad(x.view, g.view, d_w.view, c.window);
    EXPECT_LE(gradient_error(x.view, d_x.view, value), 1e-6) << c.name;
    EXPECT_LE(gradient_error(w.view, d_w.view, value), 1e-6) << c.name;
  }
}

TEST(Conv, FastEqualsReferenceF32) {
  for (const Case& c : cases()) compare_all(c, DType::kF32, 0, false);
}
TEST(Conv, FastEqualsReferenceBF16) {
  for (const Case& c : cases()) compare_all(c, DType::kBF16, 0, false);
}
TEST(Conv, FastEqualsReferenceOnMarginViews) {
  for (const Case& c : cases())
    for (DType type : {DType::kF32, DType::kBF16}) compare_all(c, type, 2, false);
}
TEST(Conv, SmallIntegersAreBitEqual) {
  for (const Case& c : cases()) compare_all(c, DType::kF32, 1, true);
}

TEST(Conv, ExtentsThatTheLibraryCannotCountAreRefused) {
  fast::ConvGeometry g{.src = {2050, 2050, 2050, 1},
                       .dst = {2048, 2048, 2048, 1},
                       .window = {{3, 3, 3}, {1, 1, 1}, {1, 1, 1}, {0, 0, 0}, {0, 0, 0}}};
  for (const auto& make : {fast::LibraryConv::forward, fast::LibraryConv::weight_grad}) {
    EXPECT_THROW(make(g, nullptr, true), Error);
    fast::ConvGeometry small = g;
    small.src = {10, 10, 10, 1}, small.dst = {8, 8, 8, 1};
    EXPECT_NE(make(small, nullptr, true), nullptr);
  }
}

TEST(Conv, LibraryWeightGradientEqualsReference) {
  int tried = 0;
  for (const Case& c : cases()) {
    if (c.y_box().empty()) continue;
    const auto kernel = fast::make_library_weight_grad(c.window, c.weights(), DType::kF32);
    if (kernel == nullptr) continue;
    ++tried;
    const Operands o(c, DType::kBF16, 1, true);
    Place fast = place(DType::kF32, Box::whole(c.weights())), slow = fast;
    slow.view = slow.memory.view();
    fast.view = fast.memory.view();
    run_kernel(*kernel, {o.x.view, o.d_y.view}, fast.view);
    run_kernel(*make_conv_weight_grad(KernelSet::kReference, c.window, c.weights(), DType::kF32),
               {o.x.view, o.d_y.view}, slow.view);
    expect_same_bits(slow.view, fast.view, c.name);
  }
  EXPECT_GT(tried, 40);
}

}  // namespace
}  // namespace voxshard
