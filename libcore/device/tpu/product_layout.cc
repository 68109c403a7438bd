#include "libcore/device/tpu/product_layout.h"

#include <algorithm>

namespace voxshard {

namespace {

std::int64_t padded(std::int64_t n, std::int64_t to) { return ceil_div(n, to) * to; }

}  // namespace

std::int64_t padded_samples(std::int64_t samples) { return padded(samples, kTileSublanes); }

double product_elements(const Dims& extent) {
  const std::int64_t count = element_count(extent);
  if (extent.axes() < 4 || count <= 0) return tiled_elements(extent);
  const std::int64_t samples = extent[0], channels = extent.back(), voxels = count / (samples * channels);
  const std::int64_t channels_in_lanes = padded_samples(samples) * padded(channels, kTileLanes),
                     samples_in_lanes = padded(samples, kTileLanes) * padded(channels, kTileSublanes);
  return static_cast<double>(voxels * std::min(channels_in_lanes, samples_in_lanes));
}

}  // namespace voxshard
