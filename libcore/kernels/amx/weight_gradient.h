// The weight gradient of a bf16 convolution in AMX tiles: products that contract over voxels.
//
//   const WeightGradient grad({.window = w, .weights = {3, 3, 3, 64, 64}});
//   for (const ChannelRange& range : grad.tasks())
//     grad.run({.x = {&x, 1}, .d_y = d_y, .d_w = d_w, .range = range, .workspace = workspace});
//
// Both operands are packed once per step and used by all taps: x as pairs of voxels, once per tap along W and shifted
// by it, d_y transposed so that voxels lie side by side. Each weight's gradient is one chain of f32 sums over groups of
// 32 voxels, in an order that depends on d_y.box alone: not on the channels of a task, the strides or the margins.
#pragma once

#include <vector>

#include "libcore/kernels/amx/steps.h"
#include "libcore/kernels/blocked_conv.h"

namespace voxshard::amx {

struct WeightGradientSpec {
  Window window;                         // applies(window)
  Shape weights;                         // (KD, KH, KW, Ci, Co) or (KH, KW, Ci, Co)
  std::vector<std::int64_t> parts = {};  // channels of each x when several lie side by side; empty: one
  const Routines& routines = kTiles;
};

/// x and d_y are bf16.
class WeightGradient {
 public:
  explicit WeightGradient(const WeightGradientSpec& spec);

  std::int64_t in_blocks() const { return static_cast<std::int64_t>(blocks_.size()); }
  std::int64_t out_blocks() const { return ceil_div(weights_[4], kTileRows); }
  /// The ranges of channels, one per call, each within 32 MiB of workspace; together they cover all weights once.
  std::vector<ChannelRange> tasks() const;
  /// Returns the bytes for a d_y of this box, whose data may be null.
  std::int64_t workspace_bytes(const ChannelRange& range, const Box& d_y) const;
  void run(const WeightGradientCall& call) const;

 private:
  /// A block of up to 16 channels of a part of x; `first` is its first channel among all parts.
  struct Block {
    std::size_t part;
    std::int64_t channel, channels, first;
  };
  struct Planes;
  struct Buffers;

  Planes planes(const StepSize& size) const;
  Buffers buffers(const ChannelRange& range, const Box& d_y, std::byte* workspace) const;
  Buffers buffers(const ChannelRange& range, const Box& d_y, std::int64_t step_voxels, std::byte* workspace) const;
  void read_x(const WeightGradientCall& call, const Step& step, std::int64_t d, const Planes& p, std::byte* to) const;
  void read_d_y(const WeightGradientCall& call, const Step& step, const Planes& p, std::byte* to) const;
  void add_step(const WeightGradientCall& call, const Step& step, bool first_step, bool last_step,
                const Buffers& b) const;
  /// Writes the sums of two by two blocks, from channel blocks `in` and `out` on, to their place in d_w.
  void write(const WeightGradientCall& call, std::int64_t tap, std::int64_t in, std::int64_t out,
             const std::byte* sums) const;

  Window window_;  // lifted
  Shape weights_;  // of 5 axes
  std::vector<Block> blocks_;
  const Routines* routines_;
};

}  // namespace voxshard::amx
