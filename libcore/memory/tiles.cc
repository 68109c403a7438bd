#include "libcore/memory/tiles.h"

namespace voxshard {

double tiled_elements(const Dims& extent) {
  const std::int64_t count = element_count(extent);
  if (count <= 0) return 0;
  auto padded = [](std::int64_t n, std::int64_t to) { return ceil_div(n, to) * to; };
  if (extent.axes() < 2) return static_cast<double>(padded(count, kTileLanes));
  std::int64_t best = 0;
  for (int lanes = 0; lanes < extent.axes(); ++lanes)
    for (int sublanes = 0; sublanes < extent.axes(); ++sublanes) {
      if (lanes == sublanes) continue;
      const std::int64_t others = count / (extent[lanes] * extent[sublanes]);
      const std::int64_t elements =
          others * padded(extent[lanes], kTileLanes) * padded(extent[sublanes], kTileSublanes);
      if (best == 0 || elements < best) best = elements;
    }
  return static_cast<double>(best);
}

}  // namespace voxshard
