// The Winograd form of a convolution and of its input gradient, which is a convolution with flipped weights.
//
//   const Convolution conv({.window = w, .weights = {3, 3, 3, 64, 64}, .tile = {4, 4, 4}});
//   for (b = 0; b < conv.out_blocks(); ++b) conv.pack(weights, b, b + 1, packed);      // a task each
//   conv.run({.src = {&x, 1}, .dst = y, .packed = packed, .workspace = workspace});    // any box of y, any blocks
//
// Tiles begin on global multiples of grain(), and every result is the same chain of operations in its tile. A voxel has
// the same bits for every box, task and margin buffer, on AVX2 and on AVX-512, as long as the call is given read_box().
// A box off the grain costs the tiles that extend beyond its border.
#pragma once

#include "libcore/kernels/blocked_conv.h"
#include "libcore/kernels/winograd/tiles.h"

namespace voxshard::winograd {

struct ConvolutionSpec {
  Window window;  // applies(window)
  Shape weights;  // (KD, KH, KW, Ci, Co) or (KH, KW, Ci, Co)
  Dims tile = {4, 4, 4};
  ConvDirection direction = ConvDirection::kForward;
  std::vector<std::int64_t> parts = {};  // channels of each source when several lie side by side; empty: one
  std::int64_t channel = 0;              // the results are channels [channel, channel + channels) of Co (or Ci)
  std::int64_t channels = -1;            // -1: all from `channel` on
};

/// Sources and results are f32 or bf16.
class Convolution {
 public:
  explicit Convolution(const ConvolutionSpec& spec);

  const TileForm& form() const { return form_; }
  Dims grain() const { return grain_of(form_); }
  /// Blocks of 16 result channels.
  std::int64_t out_blocks() const { return out_.count(); }
  std::int64_t packed_bytes() const { return out_blocks() * block_floats() * 4; }
  /// Writes the transformed weights of result blocks [first, past) to their place in `packed` (64-byte aligned, of
  /// packed_bytes()). `weights` has the whole shape, any type and strides, the last axis
  /// contiguous.
  void pack(const TensorView& weights, std::int64_t first, std::int64_t past, std::byte* packed) const;
  /// Returns at most 32 MiB up to 896 source channels; for a destination with the channels of this box.
  std::int64_t workspace_bytes(const Box& dst) const;
  /// Returns the box that a call for the box `dst` reads; it must be given all of it that exists, else the bits differ.
  Box read_box(const Box& dst) const { return patch_box(dst, form_, window_, in_.channels()); }
  void run(const ConvolutionCall& call) const;

 private:
  struct Buffers {
    Dims brick;           // tiles along D, H, W
    std::int64_t blocks;  // result blocks of a round
    float *patches, *outputs;
    Slabs values, products;
    float *bias, *scratch;
    std::int64_t bytes;
  };

  std::int64_t block_floats() const { return form_.positions() * in_.channels() * kLanesPerBlock; }
  Buffers buffers(std::int64_t blocks, std::byte* workspace) const;
  Buffers buffers(const Dims& brick, std::int64_t blocks, std::byte* workspace) const;
  void run_brick(const ConvolutionCall& call, std::span<const TensorView> src, const TensorView& dst,
                 const Brick& brick, const Buffers& b) const;

  Window window_;  // lifted
  Shape weights_;  // of 5 axes
  ConvDirection direction_;
  TileForm form_;
  ChannelBlocks in_, out_;
  std::int64_t channel_;
};

}  // namespace voxshard::winograd
