// Winograd kernels in tests: run with exactly the workspace they ask for, and their error bound.
#pragma once

#include <cmath>
#include <string>
#include <vector>

#include "libcore/kernels/winograd/convolution.h"
#include "libcore/kernels/winograd/weight_gradient.h"
#include "tests/kernels/conv_scene.h"

namespace voxshard::test {

/// Scratch of exactly `bytes`, all ones, guarded behind.
class Guarded {
 public:
  explicit Guarded(std::int64_t bytes) : bytes_(bytes), memory_(DType::kU8, {bytes + 64}) {
    std::memset(memory_.data(), 0xff, static_cast<std::size_t>(bytes + 64));
  }
  std::byte* data() const { return memory_.data(); }
  void check() const {
    for (std::int64_t i = 0; i < 64; ++i)
      ASSERT_EQ(memory_.as<std::uint8_t>()[bytes_ + i], 0xff) << "wrote behind its " << bytes_ << " bytes";
  }

 private:
  std::int64_t bytes_;
  Tensor memory_;
};

/// Packs block by block and computes dst from result block `first_block` on.
inline void run_winograd(const winograd::ConvolutionSpec& spec, std::vector<TensorView> src, const TensorView& weights,
                         const TensorView* bias, const TensorView& dst, std::int64_t first_block = 0) {
  const winograd::Convolution conv(spec);
  const Guarded packed(conv.packed_bytes());
  for (std::int64_t b = conv.out_blocks() - 1; b >= 0; --b) conv.pack(weights, b, b + 1, packed.data());
  packed.check();
  const Guarded workspace(conv.workspace_bytes(ceil_div(dst.extent().back(), winograd::kLanesPerBlock)));
  conv.run({.src = src,
            .bias = bias,
            .dst = dst,
            .first_block = first_block,
            .packed = packed.data(),
            .workspace = workspace.data()});
  workspace.check();
}

/// All of d_w, task by task.
inline void run_winograd_gradient(const winograd::WeightGradientSpec& spec, std::vector<TensorView> x,
                                  const TensorView& d_y, const TensorView& d_w) {
  const winograd::WeightGradient grad(spec);
  for (const winograd::ChannelRange& range : grad.tasks()) {
    const Guarded workspace(grad.workspace_bytes(range));
    grad.run({.x = x, .d_y = d_y, .d_w = d_w, .range = range, .workspace = workspace.data()});
    workspace.check();
  }
}

/// A copy of |view| in f64.
inline Place magnitudes(const TensorView& view) {
  Place p = place(DType::kF64, view.box);
  copy(view, p.view);
  for (std::int64_t i = 0; i < p.memory.count(); ++i) p.memory.as<double>()[i] = std::abs(p.memory.as<double>()[i]);
  return p;
}

/// What F(4, 3) and F(2, 3) per axis may be off by, as multiples of 2^-24 times the largest sum |a| |b|: every value of
/// a patch passes through each output of its tile, so an output that reads little but padding is as far off as its
/// neighbours.
inline double allowed_units(const Dims& tile) {
  double units = 16;
  for (auto outputs : tile) units *= outputs == 4 ? 3 : 1;
  return units;
}

/// |got - wanted| <= units * 2^-24 * max of sums + rounding of the stored type, everywhere; `sums` holds sum |a| |b|.
inline void expect_within(const TensorView& wanted, const TensorView& got, const TensorView& sums, double units,
                          const std::string& what) {
  const double rounding = got.dtype == DType::kBF16 ? 0x1p-8 : 0;
  double largest = 0, worst = 0;
  for_each_row(got.box, [&](const Dims& at) {
    for (std::int64_t c = 0; c < row_count(got.box); ++c) {
      const double want = load(wanted, offset_at(wanted, at) + c);
      const double off = std::abs(load(got, offset_at(got, at) + c) - want) - rounding * std::abs(want);
      worst = std::isnan(off) ? INFINITY : std::max(worst, off);
      largest = std::max(largest, load(sums, offset_at(sums, at) + c));
    }
  });
  EXPECT_LE(worst, units * 0x1p-24 * largest) << what;
}

}  // namespace voxshard::test
