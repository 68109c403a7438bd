// A direct bf16 convolution in AMX tiles, and its input gradient, which is a convolution with flipped weights.
//
//   const Convolution conv({.window = w, .weights = {3, 3, 3, 64, 64}});
//   for (b = 0; b < conv.out_blocks(); ++b) conv.pack(weights, b, b + 1, packed);      // a task each
//   conv.run({.src = {&x, 1}, .dst = y, .packed = packed, .workspace = workspace});    // any box of y, any blocks
//
// Each result is one chain of f32 sums: over chunks of 32 source channels, then over taps in row-major order, with
// padding as products with zero. So a voxel has the same bits for every box, task and margin buffer. The inputs of a
// step are first packed into the workspace, with zeros where there are none, so strides, margins and parts cost no more
// than that copy.
#pragma once

#include <vector>

#include "libcore/kernels/amx/steps.h"
#include "libcore/kernels/blocked_conv.h"

namespace voxshard::amx {

struct ConvolutionSpec {
  Window window;  // applies(window)
  Shape weights;  // (KD, KH, KW, Ci, Co) or (KH, KW, Ci, Co)
  ConvDirection direction = ConvDirection::kForward;
  std::vector<std::int64_t> parts = {};  // channels of each source when several lie side by side; empty: one
  std::int64_t channel = 0;              // the results are channels [channel, channel + channels) of Co (or Ci)
  std::int64_t channels = -1;            // -1: all from `channel` on
  const Routines& routines = kTiles;
};

/// Sources are bf16, results bf16 or f32. Any number of channels is allowed; a source part is filled up to a multiple
/// of 32 channels, and the result to one of 16, with zeros.
class Convolution {
 public:
  explicit Convolution(const ConvolutionSpec& spec);

  /// Blocks of 16 result channels.
  std::int64_t out_blocks() const { return ceil_div(channels_, kTileRows); }
  std::int64_t packed_bytes() const { return ceil_div(out_blocks(), 2) * pair_bytes(); }
  /// Writes the weights of result blocks [first, past), rounded to bf16, to their place in `packed` (64-byte aligned,
  /// of packed_bytes()). `weights` has the whole shape, f32 or bf16, any strides.
  void pack(const TensorView& weights, std::int64_t first, std::int64_t past, std::byte* packed) const;
  /// Returns the bytes for a destination of this box, whose data may be null; at most 32 MiB up to 4096 source
  /// channels.
  std::int64_t workspace_bytes(const Box& dst) const;
  /// Returns the box of the source that a call for the box `dst` reads.
  Box read_box(const Box& dst) const;
  void run(const ConvolutionCall& call) const;

 private:
  struct Buffers;
  struct Column;

  std::int64_t taps() const { return window_.kernel[1] * window_.kernel[2]; }  // of a plane
  std::int64_t pair_bytes() const { return chunks_ * window_.volume() * kWeightsStep; }
  std::int64_t block_begin(std::int64_t block) const { return block / 2 * pair_bytes() + block % 2 * kTileBytes; }
  Buffers buffers(const Box& dst, std::byte* workspace) const;
  Column column(const StepSize& size) const;
  void read_plane(const ConvolutionCall& call, const Step& step, std::int64_t d, const Column& column,
                  std::byte* to) const;
  void run_step(const ConvolutionCall& call, const Step& step, const Buffers& b) const;
  void store(const TensorView& dst, const Step& step, std::int64_t channel, const Column& column,
             std::int64_t first_tile, std::int64_t past_tile, const Buffers& b) const;

  Window window_;  // lifted; flipped for the input gradient
  Shape weights_;  // of 5 axes
  ConvDirection direction_;
  std::vector<std::int64_t> parts_;
  std::int64_t chunks_ = 0;  // of 32 source channels; each part begins a chunk of its own
  std::int64_t channel_, channels_;
  const Routines* routines_;
};

}  // namespace voxshard::amx
