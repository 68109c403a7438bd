// Element by element kernels and channel sums: hand-sized numbers, gradient, fast = reference for any number of axes
// and type.
#include "libcore/kernels/pointwise.h"

#include <limits>

#include "tests/kernels/support.h"

namespace voxshard {
namespace {

using namespace test;

const std::uint64_t kPointwiseSeed = printed_seed("kernels/pointwise", 5);

TEST(Pointwise, LeakyReluGradientMatchesCentralDifferences) {
  Place x = random(DType::kF64, Box::whole({2, 3, 5}), kPointwiseSeed), y = place(DType::kF64, x.view.box),
        g = random(DType::kF64, x.view.box, kPointwiseSeed + 1), d_x = place(DType::kF64, x.view.box);
  reference::pointwise.leaky_relu_grad(x.view, g.view, d_x.view, 0.2);
  EXPECT_LE(gradient_error(x.view, d_x.view,
                           [&] {
                             reference::pointwise.leaky_relu(x.view, y.view, 0.2);
                             return dot(y.view, g.view);
                           }),
            1e-6);
}

TEST(Pointwise, ValuesByHand) {
  Tensor x(DType::kF32, {3}), y(DType::kF32, {3}), total(DType::kF64, {1});
  const float values[] = {-2, 0, 3};
  std::copy(values, values + 3, x.as<float>());
  auto result = [&] { return std::vector<float>(y.as<float>(), y.as<float>() + 3); };
  fast::pointwise.leaky_relu(x.view(), y.view(), 0.5);
  EXPECT_EQ(result(), (std::vector<float>{-1, 0, 3}));
  fast::pointwise.leaky_relu_grad(x.view(), x.view(), y.view(), 0);
  EXPECT_EQ(result(), (std::vector<float>{0, 0, 3}));
  fast::pointwise.add(x.view(), x.view(), y.view());
  EXPECT_EQ(result(), (std::vector<float>{-4, 0, 6}));
  fast::pointwise.scale(x.view(), y.view(), -1);
  EXPECT_EQ(result(), (std::vector<float>{2, 0, -3}));
  fast::pointwise.sum_all(x.view(), total.view());
  EXPECT_EQ(total.as<double>()[0], 1);
}

TEST(Pointwise, FastEqualsReference) {
  for (const Shape& shape : {Shape{}, Shape{1}, Shape{63}, Shape{64}, Shape{65}, Shape{7, 3}, Shape{2, 3, 4, 5},
                             Shape{2, 3, 4, 5, 1}, Shape{2, 3, 4, 5, 17}, Shape{1, 2, 3, 4, 5, 6}, Shape{2, 0, 3, 4}})
    for (DType type : {DType::kF32, DType::kBF16, DType::kF64})
      for (std::int64_t margin : {0, 1}) {
        Place a = random(type, Box::whole(shape), kPointwiseSeed, margin),
              b = random(type, Box::whole(shape), kPointwiseSeed + 1, margin);
        Place fast = place(type, a.view.box, margin), slow = place(type, a.view.box);
        const std::string what = to_string(shape) + " " + dtype_name(type);
        const double tolerance = type == DType::kBF16 ? 0x1p-8 : 1e-6;
        fast::pointwise.leaky_relu(a.view, fast.view, 0.1);
        reference::pointwise.leaky_relu(a.view, slow.view, 0.1);
        expect_close(slow.view, fast.view, tolerance, "leaky relu " + what);
        fast::pointwise.leaky_relu_grad(a.view, b.view, fast.view, 0.1);
        reference::pointwise.leaky_relu_grad(a.view, b.view, slow.view, 0.1);
        expect_close(slow.view, fast.view, tolerance, "leaky relu grad " + what);
        fast::pointwise.add(a.view, b.view, fast.view);
        reference::pointwise.add(a.view, b.view, slow.view);
        expect_close(slow.view, fast.view, tolerance, "add " + what);
        fast::pointwise.scale(a.view, fast.view, 3);
        reference::pointwise.scale(a.view, slow.view, 3);
        expect_close(slow.view, fast.view, tolerance, "scale " + what);
        Tensor total(DType::kF64, {1}), expected(DType::kF64, {1});
        fast::pointwise.sum_all(a.view, total.view());
        reference::pointwise.sum_all(a.view, expected.view());
        expect_close(expected.view(), total.view(), 1e-12, "sum " + what);
        if (shape.axes() == 0) continue;
        Tensor sums(DType::kF64, {shape.back()}), expected_sums(DType::kF64, {shape.back()});
        fast::pointwise.channel_sum(a.view, sums.view());
        reference::pointwise.channel_sum(a.view, expected_sums.view());
        expect_close(expected_sums.view(), sums.view(), 1e-12, "channel sum " + what);
      }
}

TEST(Pointwise, ConversionRoundsAsBF16DoesForAnyPairOfTypes) {
  for (DType from : {DType::kF32, DType::kBF16, DType::kF64, DType::kI32})
    for (DType to : {DType::kF32, DType::kBF16, DType::kF64}) {
      Place src = random(from, Box::whole({2, 3, 4, 9}), kPointwiseSeed, 1);
      if (from == DType::kF32) {
        src.view.as<float>()[0] = std::numeric_limits<float>::infinity();
        src.view.as<float>()[1] = std::numeric_limits<float>::quiet_NaN();
        src.view.as<float>()[2] = std::numeric_limits<float>::max();
        src.view.as<float>()[3] = -0.0F;
      }
      Place fast = place(to, src.view.box, 2), slow = place(to, src.view.box);
      fast::pointwise.convert(src.view, fast.view);
      reference::pointwise.convert(src.view, slow.view);
      expect_same_bits(slow.view, fast.view, std::string(dtype_name(from)) + " to " + dtype_name(to));
    }
}

}  // namespace
}  // namespace voxshard
