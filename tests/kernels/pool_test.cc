// Pooling and up-sampling: hand-sized numbers, gradients by central differences, fast = reference, blocks = whole.
#include "libcore/kernels/pool.h"

#include "tests/kernels/support.h"

namespace voxshard {
namespace {

using namespace test;

const std::uint64_t kPoolSeed = printed_seed("kernels/pool", 77);

Window pool_window(std::int64_t kernel, std::int64_t stride, std::int64_t dilation, std::int64_t lo, std::int64_t hi) {
  return {.kernel = Dims::filled(3, kernel),
          .stride = Dims::filled(3, stride),
          .dilation = Dims::filled(3, dilation),
          .pad_lo = Dims::filled(3, lo),
          .pad_hi = Dims::filled(3, hi)};
}

Box output_box(const Window& window, const Shape& x) {
  Shape y = x;
  for (int a = 0; a < 3; ++a) y[a + 1] = window.output_extent(a, x[a + 1]);
  return Box::whole(y);
}

std::vector<Window> windows() {
  return {pool_window(2, 2, 1, 0, 0), pool_window(3, 2, 1, 1, 1), pool_window(3, 1, 1, 1, 1),
          pool_window(3, 2, 1, 0, 1), pool_window(2, 1, 2, 1, 0), pool_window(1, 1, 1, 0, 0),
          pool_window(1, 2, 1, 0, 0), pool_window(4, 3, 1, 2, 1)};
}

TEST(Pool, MaximumAndArgmaxByHand) {
  const Window w{
      .kernel = {1, 1, 3}, .stride = {1, 1, 2}, .dilation = {1, 1, 1}, .pad_lo = {0, 0, 1}, .pad_hi = {0, 0, 1}};
  const Shape shape = {1, 1, 1, 5, 1};
  Tensor x(DType::kF32, shape), y(DType::kF32, {1, 1, 1, 3, 1}), arg(DType::kU8, {1, 1, 1, 3, 1}),
      d_x(DType::kF32, shape);
  const float values[] = {-3, -5, -1, -1, -7};  // windows {., -3, -5} {-5, -1, -1} {-1, -7, .}
  std::copy(values, values + 5, x.as<float>());
  for (bool fast : {false, true}) {
    (fast ? fast::pool.max_pool : reference::pool.max_pool)(x.view(), y.view(), w, shape);
    (fast ? fast::pool.max_pool_argmax : reference::pool.max_pool_argmax)(x.view(), arg.view(), w, shape);
    EXPECT_EQ(std::vector<float>(y.as<float>(), y.as<float>() + 3), (std::vector<float>{-3, -1, -1}));
    EXPECT_EQ(std::vector<int>(arg.as<std::uint8_t>(), arg.as<std::uint8_t>() + 3), (std::vector<int>{1, 1, 0}));
    (fast ? fast::pool.max_pool_grad : reference::pool.max_pool_grad)(arg.view(), y.view(), d_x.view(), w);
    EXPECT_EQ(std::vector<float>(d_x.as<float>(), d_x.as<float>() + 5), (std::vector<float>{-3, 0, -1, -1, 0}));
    (fast ? fast::pool.avg_pool : reference::pool.avg_pool)(x.view(), y.view(), w, shape);
    EXPECT_EQ(y.as<float>()[0], -4);
    EXPECT_EQ(y.as<float>()[2], -4);
  }
}

TEST(Pool, ReferenceGradientsMatchCentralDifferences) {
  const Shape shape = {2, 4, 5, 6, 2};
  for (const Window& w : windows()) {
    const Box y_box = output_box(w, shape);
    Place x = random(DType::kF64, Box::whole(shape), kPoolSeed), y = place(DType::kF64, y_box),
          g = random(DType::kF64, y_box, kPoolSeed + 1), d_x = place(DType::kF64, x.view.box),
          arg = place(DType::kU8, y_box);
    reference::pool.max_pool_argmax(x.view, arg.view, w, shape);
    reference::pool.max_pool_grad(arg.view, g.view, d_x.view, w);
    EXPECT_LE(gradient_error(x.view, d_x.view,
                             [&] {
                               reference::pool.max_pool(x.view, y.view, w, shape);
                               return dot(y.view, g.view);
                             }),
              1e-6);
    reference::pool.avg_pool_grad(g.view, d_x.view, w, shape);
    EXPECT_LE(gradient_error(x.view, d_x.view,
                             [&] {
                               reference::pool.avg_pool(x.view, y.view, w, shape);
                               return dot(y.view, g.view);
                             }),
              1e-6);
  }
}

TEST(Pool, UpsampleGradientMatchesCentralDifferences) {
  const Dims factor = {1, 2, 3};
  Place x = random(DType::kF64, Box::whole({1, 2, 3, 2, 3}), kPoolSeed),
        y = place(DType::kF64, Box::whole({1, 2, 6, 6, 3})), g = random(DType::kF64, y.view.box, kPoolSeed + 1),
        d_x = place(DType::kF64, x.view.box);
  reference::pool.upsample_nearest_grad(g.view, d_x.view, factor);
  EXPECT_LE(gradient_error(x.view, d_x.view,
                           [&] {
                             reference::pool.upsample_nearest(x.view, y.view, factor);
                             return dot(y.view, g.view);
                           }),
            1e-6);
}

TEST(Pool, SubsampleTakesTheFirstOfTheUpperHalfOfEachBlockAndTheLastOfAnIncompleteOne) {
  // nearest-exact of PyTorch: floor((i + 0.5) * factor), so 1, 3, 5 of 6 by 2 and 2, 6 of 8 by 4
  const auto taken = [](std::int64_t extent, std::int64_t factor) {
    std::vector<std::int64_t> at;
    for (std::int64_t o = 0; o * factor < extent; ++o) at.push_back(subsampled_from(o, factor, extent));
    return at;
  };
  EXPECT_EQ(taken(6, 2), (std::vector<std::int64_t>{1, 3, 5}));
  EXPECT_EQ(taken(8, 4), (std::vector<std::int64_t>{2, 6}));
  EXPECT_EQ(taken(7, 2), (std::vector<std::int64_t>{1, 3, 5, 6}));
  EXPECT_EQ(taken(9, 4), (std::vector<std::int64_t>{2, 6, 8}));
  EXPECT_EQ(taken(3, 1), (std::vector<std::int64_t>{0, 1, 2}));
}

/// Returns `whole`, and its two parts when each axis is cut at a third.
std::vector<Box> some_blocks(const Box& whole) {
  std::vector<Box> parts = {whole};
  for (int cut = 1; cut <= 3; ++cut) {
    Box low = whole, high = whole;
    const std::int64_t at = whole.begin[cut] + (whole.extent[cut] + 1) / 3;
    low.set(cut, whole.begin[cut], at);
    high.set(cut, at, whole.end(cut));
    if (!low.empty()) parts.push_back(low);
    if (!high.empty()) parts.push_back(high);
  }
  return parts;
}

TEST(Pool, FastEqualsReferenceInEveryBlock) {
  for (std::int64_t channels : {1, 3, 7, 8, 9, 32, 33})
    for (DType type : {DType::kF32, DType::kBF16})
      for (std::int64_t margin : {0, 1})
        for (const Window& w : windows()) {
          const Shape shape = {2, 5, 6, 7, channels};
          const Box y_box = output_box(w, shape);
          const double tolerance = type == DType::kBF16 ? 0x1p-7 : 1e-6;
          Place x = random(type, Box::whole(shape), kPoolSeed, margin),
                d_y = random(type, y_box, kPoolSeed + 2, margin), arg = place(DType::kU8, y_box, margin);
          const std::string what = "kernel " + to_string(w.kernel) + " channels " + std::to_string(channels);
          reference::pool.max_pool_argmax(x.view, arg.view, w, shape);
          for (const Box& block : some_blocks(y_box)) {
            Place fast = place(type, block, margin), slow = place(type, block);
            Place fast_arg = place(DType::kU8, block, margin), slow_arg = place(DType::kU8, block);
            fast::pool.max_pool(x.view, fast.view, w, shape);
            reference::pool.max_pool(x.view, slow.view, w, shape);
            expect_same_bits(slow.view, fast.view, "max " + what);
            fast::pool.max_pool_argmax(x.view, fast_arg.view, w, shape);
            expect_same_bits(arg.view.sub(block), fast_arg.view, "argmax " + what);
            fast::pool.avg_pool(x.view, fast.view, w, shape);
            reference::pool.avg_pool(x.view, slow.view, w, shape);
            expect_close(slow.view, fast.view, tolerance, "avg " + what);
          }
          Place whole_max = place(type, x.view.box), whole_avg = place(type, x.view.box);
          fast::pool.max_pool_grad(arg.view, d_y.view, whole_max.view, w);
          fast::pool.avg_pool_grad(d_y.view, whole_avg.view, w, shape);
          for (const Box& block : some_blocks(x.view.box)) {
            Place fast = place(type, block, margin), slow = place(type, block);
            fast::pool.max_pool_grad(arg.view, d_y.view, fast.view, w);
            reference::pool.max_pool_grad(arg.view, d_y.view, slow.view, w);
            expect_close(slow.view, fast.view, tolerance, "max grad " + what);
            expect_same_bits(whole_max.view.sub(block), fast.view, "max grad block " + what);
            fast::pool.avg_pool_grad(d_y.view, fast.view, w, shape);
            reference::pool.avg_pool_grad(d_y.view, slow.view, w, shape);
            expect_close(slow.view, fast.view, tolerance, "avg grad " + what);
            expect_same_bits(whole_avg.view.sub(block), fast.view, "avg grad block " + what);
          }
          if (HasFailure()) return;
        }
}

TEST(Pool, UpsampleFastEqualsReferenceInEveryBlock) {
  for (std::int64_t channels : {1, 8, 17})
    for (DType type : {DType::kF32, DType::kBF16}) {
      const Dims factor = {2, 1, 3};
      Place x = random(type, Box::whole({2, 3, 4, 5, channels}), kPoolSeed, 1),
            d_y = random(type, Box::whole({2, 6, 4, 15, channels}), kPoolSeed, 1);
      for (const Box& block : some_blocks(d_y.view.box)) {
        Place fast = place(type, block, 1), slow = place(type, block);
        fast::pool.upsample_nearest(x.view, fast.view, factor);
        reference::pool.upsample_nearest(x.view, slow.view, factor);
        expect_same_bits(slow.view, fast.view, "upsample");
      }
      const Shape wide = {2, 6, 4, 15, channels};
      for (const Box& block : some_blocks(x.view.box)) {
        Place fast = place(type, block, 1), slow = place(type, block);
        fast::pool.subsample(d_y.view, fast.view, factor, wide);
        reference::pool.subsample(d_y.view, slow.view, factor, wide);
        expect_same_bits(slow.view, fast.view, "subsample");
      }
      for (const Box& block : some_blocks(x.view.box)) {
        Place fast = place(type, block, 1), slow = place(type, block);
        fast::pool.upsample_nearest_grad(d_y.view, fast.view, factor);
        reference::pool.upsample_nearest_grad(d_y.view, slow.view, factor);
        expect_close(slow.view, fast.view, type == DType::kBF16 ? 0x1p-7 : 1e-6, "upsample grad");
      }
    }
}

}  // namespace
}  // namespace voxshard
