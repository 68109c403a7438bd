// The Winograd form of a weight gradient: sums over tiles of outer products of transformed patches and gradients.
//
//   const WeightGradient grad({.window = w, .weights = {3, 3, 3, 64, 64}, .tile = {4, 4, 4}});
//   for (const ChannelRange& range : grad.tasks())
//     grad.run({.x = {&x, 1}, .d_y = d_y, .d_w = d_w, .range = range, .workspace = workspace});
//
// Tiles and the bricks in which they are summed begin on global multiples: a brick's sum is one chain over its tiles in
// row-major order, bricks are added in row-major order. So the result depends only on the voxels in d_y.box: not on the
// channels of a task, the strides, or the instruction set (AVX2 and AVX-512).
#pragma once

#include "libcore/kernels/blocked_conv.h"
#include "libcore/kernels/winograd/tiles.h"

namespace voxshard::winograd {

struct WeightGradientSpec {
  Window window;  // applies(window)
  Shape weights;  // (KD, KH, KW, Ci, Co) or (KH, KW, Ci, Co)
  Dims tile = {4, 4, 4};
  std::vector<std::int64_t> parts = {};  // channels of each x when several lie side by side; empty: one
};

/// x and d_y are f32 or bf16.
class WeightGradient {
 public:
  explicit WeightGradient(const WeightGradientSpec& spec);

  const TileForm& form() const { return form_; }
  /// Boxes of d_y should begin on these multiples: whole bricks, for (D, H, W).
  Dims grain() const;
  /// The ranges of channels, one per call, each within 32 MiB of workspace; together they cover all weights once.
  std::vector<ChannelRange> tasks() const;
  /// The bytes do not depend on the box of d_y.
  std::int64_t workspace_bytes(const ChannelRange& range, const Box& d_y = {}) const;
  /// Returns the box of x that a call for the box `d_y` reads; it must be given all of it that exists, else the bits
  /// differ.
  Box read_box(const Box& d_y) const { return patch_box(d_y, form_, window_, in_.channels()); }
  void run(const WeightGradientCall& call) const;

 private:
  struct Buffers {
    float *patches, *gradient_planes;
    Slabs values, gradients;
    float *sums, *square, *scratch;  // square: the sums of 16 by 16 channels, [position][16][16]
    std::int64_t bytes;
  };

  Buffers buffers(const ChannelRange& range, std::byte* workspace) const;
  void add_brick(const WeightGradientCall& call, const Brick& brick, bool first_brick, const Buffers& b) const;
  void write(const ChannelRange& range, const Buffers& b, const TensorView& d_w) const;

  Window window_;  // lifted
  TileForm form_;
  ChannelBlocks in_, out_;
  Dims brick_;  // tiles along D, H, W
};

}  // namespace voxshard::winograd
