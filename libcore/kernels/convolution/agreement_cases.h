// The small convolutions that a row of the table of convolutions computes beside the reference before its first use:
// one for each way that kernels take through their code.
#pragma once

#include <optional>
#include <span>

#include "libcore/kernels/conv_table.h"

namespace voxshard::fast {

struct SmallConv {
  const char* path;  // what it is there for
  Window window;
  Dims extent;  // of x
  std::int64_t batch, in, out;
  std::vector<std::int64_t> parts = {};         // forward only: channels of each x, `in` together
  std::int64_t slices = 1;                      // of the channels that are computed
  std::int64_t channel = 0, channels = -1;      // input gradient only
  std::optional<ConvPass> only = std::nullopt;  // else every pass
  /// Activations lie in margin buffers, weights are f32 beside activations in bf16, as they are before they are
  /// rounded, and there is no bias: every second case.
  bool in_margins = false;

  Shape x() const;  // (N, spatial, in)
  Shape y() const;
  Shape weights() const;
  /// In that pass; nothing where it has none.
  std::optional<ConvUse> use(ConvPass pass, DType dtype) const;
};

std::span<const SmallConv> small_convs();

/// Whether a row computes it as the reference does, in each type in which the row runs it. None: true.
bool agrees_in(const ConvRow& row, const SmallConv& conv);

}  // namespace voxshard::fast
