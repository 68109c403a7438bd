// The kernels of this room beside an obvious loop on small integers, whose sums are exact.
#include <vector>

#include "libcore/kernels/amx/convolution.h"
#include "libcore/kernels/amx/processor.h"
#include "libcore/kernels/amx/weight_gradient.h"

namespace voxshard::amx {
namespace {

constexpr std::int64_t kDepths = 2, kRows = 3, kIn = 48, kOut = 32, kTaps = 27;

/// -2 .. 2 in an order without a pattern in the axes.
Tensor integers(DType type, const Shape& shape, std::uint32_t seed) {
  Tensor t(type, shape);
  for (std::int64_t i = 0; i < t.count(); ++i) {
    seed = seed * 1664525U + 1013904223U;
    store(t.view(), i, static_cast<double>(seed >> 16) - 5.0 * static_cast<double>((seed >> 16) / 5) - 2.0);
  }
  return t;
}

bool equal(const std::vector<float>& wanted, const Tensor& got) {
  for (std::int64_t i = 0; i < got.count(); ++i)
    if (got.as<float>()[i] != wanted[static_cast<std::size_t>(i)]) return false;
  return true;
}

std::vector<float> values(const Tensor& t) {
  std::vector<float> all;
  for (std::int64_t i = 0; i < t.count(); ++i) all.push_back(static_cast<float>(load(t.view(), i)));
  return all;
}

bool equals_loops(std::int64_t width) {
  const Window window{
      .kernel = {3, 3, 3}, .stride = {1, 1, 1}, .dilation = {1, 1, 1}, .pad_lo = {1, 1, 1}, .pad_hi = {1, 1, 1}};
  const Shape weights = {3, 3, 3, kIn, kOut};
  const Tensor x = integers(DType::kBF16, {1, kDepths, kRows, width, kIn}, 1);
  const Tensor d_y = integers(DType::kBF16, {1, kDepths, kRows, width, kOut}, 2);
  const Tensor w = integers(DType::kF32, weights, 3);
  const std::vector<float> xs = values(x), gs = values(d_y), ws = values(w);
  std::vector<float> y(gs.size()), d_x(xs.size()), d_w(ws.size());
  for (std::int64_t o = 0; o < kDepths * kRows * width; ++o)
    for (std::int64_t tap = 0; tap < kTaps; ++tap) {
      const std::int64_t d = o / (kRows * width) + tap / 9 - 1, h = o / width % kRows + tap / 3 % 3 - 1,
                         v = o % width + tap % 3 - 1;
      if (d < 0 || d >= kDepths || h < 0 || h >= kRows || v < 0 || v >= width) continue;
      const auto in = static_cast<std::size_t>(((d * kRows + h) * width + v) * kIn);
      const auto out = static_cast<std::size_t>(o * kOut), at = static_cast<std::size_t>(tap * kIn * kOut);
      for (std::size_t i = 0; i < kIn; ++i)
        for (std::size_t c = 0; c < kOut; ++c) {
          y[out + c] += xs[in + i] * ws[at + i * kOut + c];
          d_x[in + i] += gs[out + c] * ws[at + i * kOut + c];
          d_w[at + i * kOut + c] += xs[in + i] * gs[out + c];
        }
    }
  auto convolved = [&](Direction direction, const Tensor& from, const std::vector<float>& wanted,
                       std::int64_t channels) {
    const Convolution conv({.window = window, .weights = weights, .direction = direction});
    const Tensor to(DType::kF32, {1, kDepths, kRows, width, channels}), packed(DType::kU8, {conv.packed_bytes()}),
        workspace(DType::kU8, {conv.workspace_bytes(to.view().box)});
    conv.pack(w.view(), 0, conv.out_blocks(), packed.data());
    const TensorView src = from.view();
    conv.run({.src = {&src, 1}, .dst = to.view(), .packed = packed.data(), .workspace = workspace.data()});
    return equal(wanted, to);
  };
  const WeightGradient grad({.window = window, .weights = weights});
  const Tensor sums(DType::kF32, weights);
  const TensorView src = x.view();
  for (const ChannelRange& range : grad.tasks()) {
    const Tensor workspace(DType::kU8, {grad.workspace_bytes(range, d_y.view().box)});
    grad.run({.x = {&src, 1}, .d_y = d_y.view(), .d_w = sums.view(), .range = range, .workspace = workspace.data()});
  }
  return convolved(Direction::kForward, x, y, kOut) && convolved(Direction::kInputGrad, d_y, d_x, kIn) &&
         equal(d_w, sums);
}

}  // namespace

bool agrees() {
  static const bool all = available() && equals_loops(16) && equals_loops(7);  // rows of tiles, tiles over rows
  return all;
}

}  // namespace voxshard::amx
