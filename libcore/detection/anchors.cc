#include "libcore/detection/anchors.h"

namespace voxshard {

std::vector<AnchorLevel> anchor_levels(const Dims& size, const AnchorOptions& options) {
  std::vector<AnchorLevel> levels;
  std::int64_t first = 0;
  for (int level = options.first_level; level <= options.last_level; ++level) {
    AnchorLevel made{.level = level, .stride = std::int64_t{1} << level, .first = first};
    made.height = ceil_div(size[0], made.stride);
    made.width = ceil_div(size[1], made.stride);
    for (int scale = 0; scale < options.scales; ++scale) {
      const double half =
          options.side * static_cast<double>(made.stride) * std::exp2(static_cast<double>(scale) / options.scales) / 2;
      for (const Aspect& aspect : options.aspects) made.halves.push_back({half * aspect.height, half * aspect.width});
    }
    first += made.count();
    levels.push_back(std::move(made));
  }
  return levels;
}

}  // namespace voxshard
