// Small convolutions that a row of the convolution table computes and compares with the reference before its first use:
// one for each code path of the kernels.
#pragma once

#include <optional>
#include <span>

#include "libcore/kernels/conv_table.h"

namespace voxshard::fast {

struct SmallConv {
  const char* path;  // the code path that it covers
  Window window;
  Dims extent;  // of x
  std::int64_t batch, in, out;
  std::vector<std::int64_t> parts = {};         // forward only: channels of each x, `in` together
  std::int64_t slices = 1;                      // slices of the computed channels
  std::int64_t channel = 0, channels = -1;      // input gradient only
  std::optional<ConvPass> only = std::nullopt;  // else every pass
  /// True in every second case: activations lie in margin buffers, weights are f32 beside bf16 activations, as before
  /// their rounding, and there is no bias.
  bool in_margins = false;

  Shape x() const;  // (N, spatial, in)
  Shape y() const;
  Shape weights() const;
  /// Returns its use in that pass; empty where it has none.
  std::optional<ConvUse> use(ConvPass pass, DType dtype) const;
};

std::span<const SmallConv> small_convs();

/// True when the row computes it like the reference, in each type in which the row runs it; true when it runs none.
bool agrees_in(const ConvRow& row, const SmallConv& conv);

}  // namespace voxshard::fast
