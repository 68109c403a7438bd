// Checks a layer by a random sum of its channels: cheap, and it covers every voxel, tap and channel.
//
// For a convolution y and random numbers r, sum_c r[c] y[v, c] is a convolution with one output channel
// (ops/channel_axis.h), so the slow kernel does 1 / C of the layer's work. Where the fast kernel left out a tile, y is
// wrong by about |y| in all C channels, and the sum by about |y| sqrt(C). The tolerance grows in the same way, but from
// the rounding of one y, far below |y|:
//
//   with |error of y[v, c]| <= a[c] and r of random sign, |sum r[c] error[c]| <= 6 sqrt(sum (r[c] a[c])^2), except for
//   one case in 3e7 when every error is at its bound (Hoeffding 1963, theorem 2), and far fewer when errors spread
//   below the bound, as roundings do
//
//   32 channels in bf16: a = 2^-9 to 2^-8 |y|, allowed 6 x 0.003 x sqrt(32) |y| = 0.1 |y|; a lost tile makes 5.7 |y|.
//   A weight gradient in f32 over 32^3 voxels: allowed about 2e-3 of an element; an output channel x 1.01 makes 1e-2 in
//   all of its taps. Smaller faults (a channel x 1.01 in bf16) are found by single voxels over all channels, where
//   nothing is summed.
//
// r has magnitudes from 0.5 to 1.5, so that swapped channels are detected too.
#pragma once

#include <optional>

#include "libcore/check/oracle.h"
#include "libcore/ops/channel_axis.h"

namespace voxshard {

/// The tolerance is this factor times the root of the sum of squared bounds.
inline constexpr double kSpread = 6;

/// Returns one random number per channel.
std::vector<double> random_signs(const std::string& layer, std::uint64_t seed, std::int64_t channels);

/// Returns `values` with `axis` reduced to extent 1: the sum over its channels from `first` on, weighted by `r`. f64.
Tensor summed_channels(const TensorView& values, int axis, std::int64_t first, const std::vector<double>& r,
                       WorkerPool& pool);
/// Likewise, returns the root of the sum of the squares of the weighted channels.
Tensor channel_norms(const TensorView& values, int axis, std::int64_t first, const std::vector<double>& r,
                     WorkerPool& pool);

struct ProjectedLayer {
  OwnedLayer exact;  // its result is the weighted sum over the channels of the layer's result
  /// Its result bounds the root of the summed squares of r times the magnitudes of each channel (Minkowski: the norm of
  /// a sum is at most the sum of the norms). For a contraction only the norms of its inputs are used, not its result.
  OwnedLayer sizes;
};

ProjectedLayer projected(const Layer& layer, const ChannelAxis& axis, const std::vector<double>& r, WorkerPool& pool);

}  // namespace voxshard
