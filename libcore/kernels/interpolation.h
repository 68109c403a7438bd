// Values of a volume at mapped places (libcore/tensor/spatial_map.h): linear interpolation of images, and of label maps
// the label with the largest weight. Every point is computed from its own index alone, by the same roundings in both
// kernel sets: both give the same bits, however a sample is cut into boxes.
//
//   interpolation_kernels(KernelSet::kFast).linear({values, held}, map, box, points);
#pragma once

#include <algorithm>
#include <array>
#include <cmath>

#include "libcore/kernels/kernel.h"
#include "libcore/tensor/spatial_map.h"

namespace voxshard {

/// The voxels of a box (D H W), dense.
template <class T>
struct HeldVoxels {
  const T* values;
  const Box& box;
};

struct InterpolationKernels {
  /// Writes the interpolation at the mapped points of `box`, dense. Requires: `from.box` contains map.sources(box).
  void (*linear)(const HeldVoxels<float>& from, const SpatialMap& map, const Box& box, float* to);
  /// Writes the labels at the mapped points: each the label with the largest weight among the eight voxels around the
  /// point, the smallest of those with equal weights. Requires: the same.
  void (*heaviest)(const HeldVoxels<std::int32_t>& from, const SpatialMap& map, const Box& box, std::int32_t* to);
};

namespace interpolation {

/// Offsets of the eight voxels around a point from the lowest of them: bit 2 is D, bit 1 is H, bit 0 is W.
inline std::array<std::int64_t, 8> corner_offsets(const Box& held) {
  std::array<std::int64_t, 8> offsets{};
  for (std::size_t corner = 0; corner < 8; ++corner) {
    const auto bit = [corner](std::size_t b) { return static_cast<std::int64_t>((corner >> b) & 1); };
    offsets[corner] = (bit(2) * held.extent[1] + bit(1)) * held.extent[2] + bit(0);
  }
  return offsets;
}

inline float between(float low, float high, float fraction) { return low + (high - low) * fraction; }

/// Returns the label of the eight with the largest sum of weights.
///   fraction  of the point between the lower and the higher voxels, by axis
inline std::int32_t heaviest(const std::array<std::int32_t, 8>& labels, const std::array<float, 3>& fraction) {
  std::array<float, 8> weights{};
  for (std::size_t corner = 0; corner < 8; ++corner) {
    float weight = 1;
    for (std::size_t a = 0; a < 3; ++a) weight *= (corner >> (2 - a)) & 1 ? fraction[a] : 1 - fraction[a];
    const auto same = static_cast<std::size_t>(std::ranges::find(labels, labels[corner]) - labels.begin());
    weights[same] += weight;  // the first voxel with a label gathers its weight
  }
  std::size_t best = 0;
  for (std::size_t corner = 1; corner < 8; ++corner)
    if (weights[corner] > weights[best] || (weights[corner] == weights[best] && labels[corner] < labels[best]))
      best = corner;
  return labels[best];
}

}  // namespace interpolation

namespace reference {
extern const InterpolationKernels interpolation;
}
namespace fast {
extern const InterpolationKernels interpolation;
}

inline const InterpolationKernels& interpolation_kernels(KernelSet set) {
  return set == KernelSet::kFast ? fast::interpolation : reference::interpolation;
}

}  // namespace voxshard
