// The call interface shared by the convolutions over blocks of 16 channels (kernels/winograd, kernels/amx).
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "libcore/tensor/tensor.h"

namespace voxshard {

/// kInputGrad: a convolution with flipped weights, whose source is d_y and whose results are channels of Ci.
enum class ConvDirection { kForward, kInputGrad };

/// Views have global boxes (N, D, H, W, C) or (N, H, W, C) and contiguous channels; values outside a source's box read
/// as zero.
struct ConvolutionCall {
  std::span<const TensorView> src;
  const TensorView* bias = nullptr;  // one value per result channel, any type
  TensorView dst;                    // its channels belong to the blocks from first_block on
  std::int64_t first_block = 0;      // index of the block of 16 result channels at which dst begins
  const std::byte* packed = nullptr;
  std::byte* workspace = nullptr;  // 64-byte aligned
};

/// A range of blocks of 16 channels of Ci (each x begins a block of its own) and of Co.
struct ChannelRange {
  std::int64_t first_in, past_in, first_out, past_out;
};

/// Views as in a ConvolutionCall.
struct WeightGradientCall {
  std::span<const TensorView> x;
  TensorView d_y;  // the sum is over its box
  TensorView d_w;  // the whole shape, dense f32; the channels of `range` are overwritten
  ChannelRange range;
  std::byte* workspace = nullptr;  // 64-byte aligned
};

/// (KH, KW, Ci, Co) -> (1, KH, KW, Ci, Co).
inline Shape lifted_weights(const Shape& weights) {
  Shape full;
  for (int a = weights.axes(); a < 5; ++a) full.push_back(1);
  for (auto e : weights) full.push_back(e);
  return full;
}

/// Returns the channels of each source, `channels` in total; empty `parts`: one source. Requires that they add up.
inline std::vector<std::int64_t> source_parts(const std::vector<std::int64_t>& parts, std::int64_t channels) {
  if (parts.empty()) return {channels};
  std::int64_t sum = 0;
  for (std::int64_t part : parts) sum += part;
  ensure(sum == channels, "the parts of a source have the channels of the weights");
  return parts;
}
inline std::vector<std::int64_t> source_parts(ConvDirection direction, const Shape& weights,
                                              const std::vector<std::int64_t>& parts) {
  const Shape w = lifted_weights(weights);
  return source_parts(parts, direction == ConvDirection::kForward ? w[3] : w[4]);
}

/// Returns the number of channels computed from `channel` on; `channels` -1: all that follow. Requires that the weights
/// have them.
inline std::int64_t result_channels(ConvDirection direction, const Shape& weights, std::int64_t channel,
                                    std::int64_t channels) {
  const Shape w = lifted_weights(weights);
  const std::int64_t all = direction == ConvDirection::kForward ? w[4] : w[3];
  const std::int64_t count = channels < 0 ? all - channel : channels;
  ensure(channel >= 0 && count >= 0 && channel + count <= all, "results are channels of the weights");
  return count;
}

}  // namespace voxshard
