#include "io/boxes/detection_annotations.h"

#include <algorithm>
#include <cmath>

namespace voxshard {

std::optional<TrueBox> clipped_to_image(const TrueBox& box, std::int64_t width, std::int64_t height) {
  const CocoBox& b = box.box;
  const double x0 = std::max(0.0, b.x), x1 = std::min(static_cast<double>(width), b.x + b.width);
  const double y0 = std::max(0.0, b.y), y1 = std::min(static_cast<double>(height), b.y + b.height);
  if (!(x1 > x0 && y1 > y0) || !std::isfinite(b.x + b.y + b.area())) return std::nullopt;
  if (b.x >= 0 && b.y >= 0 && b.x + b.width <= static_cast<double>(width) &&
      b.y + b.height <= static_cast<double>(height))
    return box;
  TrueBox inside = box;
  inside.box = {.x = x0, .y = y0, .width = x1 - x0, .height = y1 - y0};
  inside.area *= inside.box.area() / b.area();
  return inside;
}

}  // namespace voxshard
