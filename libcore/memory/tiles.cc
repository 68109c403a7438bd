#include "libcore/memory/tiles.h"

#include <algorithm>

namespace voxshard {

double tiled_elements(const Dims& extent) {
  const std::int64_t count = element_count(extent);
  if (count <= 0) return 0;
  auto padded = [](std::int64_t n, std::int64_t to) { return static_cast<double>(ceil_div(n, to) * to) / static_cast<double>(n); };
  if (extent.rank() < 2) return static_cast<double>(count) * padded(count, kTileLanes);
  double best = 0;
  for (int lanes = 0; lanes < extent.rank(); ++lanes)
    for (int sublanes = 0; sublanes < extent.rank(); ++sublanes) {
      if (lanes == sublanes) continue;
      const double growth = padded(extent[lanes], kTileLanes) * padded(extent[sublanes], kTileSublanes);
      if (best == 0 || growth < best) best = growth;
    }
  return static_cast<double>(count) * best;
}

}  // namespace voxshard
