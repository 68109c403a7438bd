#include "libcore/detection/anchors.h"

namespace voxshard {

std::vector<Aspect> AnchorOptions::shapes_of_cell() const {
  const AnchorLevel level = anchor_levels({1, 1}, *this).front();
  std::vector<Aspect> cells;
  for (const Aspect& half : level.halves)
    cells.push_back(
        {2 * half.height / static_cast<double>(level.stride), 2 * half.width / static_cast<double>(level.stride)});
  return cells;
}

std::vector<AnchorLevel> anchor_levels(const Dims& size, const AnchorOptions& options) {
  std::vector<AnchorLevel> levels;
  std::int64_t first = 0;
  for (int level = options.first_level; level <= options.last_level; ++level) {
    AnchorLevel made{.level = level, .stride = std::int64_t{1} << level, .first = first};
    made.height = ceil_div(size[0], made.stride);
    made.width = ceil_div(size[1], made.stride);
    for (const Aspect& shape : options.shapes)
      made.halves.push_back(
          {shape.height * static_cast<double>(made.stride) / 2, shape.width * static_cast<double>(made.stride) / 2});
    for (int scale = 0; options.shapes.empty() && scale < options.scales; ++scale) {
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
