#include "libcore/kernels/convolution/agreement_cases.h"

namespace voxshard::fast {
namespace {

Window window(const Dims& kernel, const Dims& stride, const Dims& pad_lo, const Dims& pad_hi,
              std::int64_t dilation = 1) {
  return {.kernel = kernel,
          .stride = stride,
          .dilation = Dims::filled(kernel.axes(), dilation),
          .pad_lo = pad_lo,
          .pad_hi = pad_hi};
}

/// A window with the same values on all `axes` axes.
Window cube(int axes, std::int64_t kernel, std::int64_t stride, std::int64_t pad, std::int64_t dilation = 1) {
  const Dims pads = Dims::filled(axes, pad);
  return window(Dims::filled(axes, kernel), Dims::filled(axes, stride), pads, pads, dilation);
}

/// Sizes are the smallest that reach the code path: one voxel more than tiles of 2 and 4 of a transform and than 16 or
/// 32 of AMX, one channel more than blocks of 16 and 32. The reference adds up about a million products for the
/// largest.
std::vector<SmallConv> make_small_convs() {
  constexpr auto kForward = ConvPass::kForward, kInputGrad = ConvPass::kInputGrad;
  return {
      {.path = "volume", .window = cube(3, 3, 1, 1), .extent = {3, 5, 6}, .batch = 1, .in = 17, .out = 18},
      {.path = "image", .window = cube(2, 3, 1, 1), .extent = {5, 9}, .batch = 1, .in = 20, .out = 33},
      {.path = "rows of whole tiles", .window = cube(2, 3, 1, 1), .extent = {2, 32}, .batch = 1, .in = 33, .out = 17},
      {.path = "no padding, samples", .window = cube(2, 3, 1, 0), .extent = {4, 7}, .batch = 3, .in = 16, .out = 16},
      {.path = "uneven padding, few channels",
       .window = window({3, 3, 3}, {1, 1, 1}, {2, 0, 1}, {0, 2, 0}),
       .extent = {3, 4, 7},
       .batch = 1,
       .in = 3,
       .out = 5},
      {.path = "several steps", .window = cube(3, 3, 1, 1), .extent = {3, 20, 24}, .batch = 1, .in = 1, .out = 2},
      {.path = "rows cut in parts", .window = cube(2, 3, 1, 1), .extent = {2, 173}, .batch = 2, .in = 2, .out = 3},
      {.path = "more planes than a slab",
       .window = cube(3, 3, 1, 1),
       .extent = {10, 2, 3},
       .batch = 1,
       .in = 4,
       .out = 8},
      {.path = "planes",
       .window = window({1, 3, 3}, {1, 1, 1}, {0, 1, 1}, {0, 1, 1}),
       .extent = {2, 3, 5},
       .batch = 2,
       .in = 6,
       .out = 16},
      {.path = "along D",
       .window = window({3, 1, 1}, {2, 1, 1}, {1, 0, 0}, {1, 0, 0}),
       .extent = {5, 3, 3},
       .batch = 1,
       .in = 16,
       .out = 8},
      {.path = "one voxel", .window = cube(3, 1, 1, 0), .extent = {2, 3, 17}, .batch = 1, .in = 40, .out = 24},
      {.path = "one voxel of several", .window = cube(2, 1, 2, 0), .extent = {4, 5}, .batch = 1, .in = 16, .out = 16},
      {.path = "stride", .window = cube(3, 3, 2, 1), .extent = {4, 5, 6}, .batch = 1, .in = 16, .out = 17},
      {.path = "a wide window", .window = cube(2, 7, 2, 3), .extent = {7, 8}, .batch = 1, .in = 3, .out = 16},
      {.path = "dilation", .window = cube(2, 3, 1, 2, 2), .extent = {6, 7}, .batch = 1, .in = 16, .out = 8},
      {.path = "patches", .window = cube(3, 2, 2, 0), .extent = {4, 6, 5}, .batch = 2, .in = 16, .out = 20},
      {.path = "a dense layer", .window = cube(2, 3, 3, 0), .extent = {3, 3}, .batch = 5, .in = 6, .out = 17},
      {.path = "slices", .window = cube(3, 3, 1, 1), .extent = {2, 3, 3}, .batch = 1, .in = 32, .out = 32, .slices = 2},
      {.path = "two inputs",
       .window = cube(3, 3, 1, 1),
       .extent = {2, 3, 5},
       .batch = 1,
       .in = 33,
       .out = 16,
       .parts = {20, 13},
       .only = kForward},
      {.path = "many inputs, whose weights are multiplied in rounds",
       .window = cube(3, 3, 1, 1),
       .extent = {2, 2, 3},
       .batch = 1,
       .in = 10,
       .out = 33,
       .parts = {1, 1, 1, 1, 1, 1, 1, 1, 1, 1},
       .only = kForward},
      {.path = "some channels",
       .window = cube(3, 3, 1, 1),
       .extent = {2, 3, 5},
       .batch = 1,
       .in = 33,
       .out = 16,
       .channel = 5,
       .channels = 19,
       .only = kInputGrad},
      {.path = "some channels of a stride",
       .window = cube(2, 2, 2, 0),
       .extent = {4, 6},
       .batch = 1,
       .in = 33,
       .out = 16,
       .channel = 16,
       .channels = 16,
       .only = kInputGrad},
  };
}

Shape with_channels(std::int64_t batch, const Dims& extent, std::int64_t channels) {
  Shape shape = {batch};
  for (auto e : extent) shape.push_back(e);
  shape.push_back(channels);
  return shape;
}

}  // namespace

Shape SmallConv::x() const { return with_channels(batch, extent, in); }

Shape SmallConv::y() const {
  Dims outputs;
  for (int a = 0; a < window.axes(); ++a) outputs.push_back(window.output_extent(a, extent[a]));
  return with_channels(batch, outputs, out);
}

Shape SmallConv::weights() const {
  Shape shape = window.kernel;
  shape.push_back(in);
  shape.push_back(out);
  return shape;
}

std::optional<ConvUse> SmallConv::use(ConvPass pass, DType dtype) const {
  if (only.has_value() && only != pass) return std::nullopt;
  ConvUse use{.pass = pass,
              .window = window,
              .weights = weights(),
              .over = pass == ConvPass::kInputGrad ? x() : y(),
              .dtype = dtype,
              .channel = channel,
              .channels = channels,
              .slices = slices};
  if (pass == ConvPass::kInputGrad && channels >= 0) use.over[use.over.axes() - 1] = channels;
  if (parts.size() > 1) use.parts = parts.size(), use.part_channels = parts;
  return use;
}

std::span<const SmallConv> small_convs() {
  static const std::vector<SmallConv> all = [] {
    std::vector<SmallConv> convs = make_small_convs();
    for (std::size_t i = 1; i < convs.size(); i += 2) convs[i].in_margins = true;
    return convs;
  }();
  return all;
}

}  // namespace voxshard::fast
