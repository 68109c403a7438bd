#include "libcore/detection/box_coding.h"

#include <algorithm>
#include <cmath>

namespace voxshard {

double iou(const PixelBox& a, const PixelBox& b) {
  const PixelBox both{std::max(a.y0, b.y0), std::max(a.x0, b.x0), std::min(a.y1, b.y1), std::min(a.x1, b.x1)};
  const double shared = both.area();
  return shared > 0 ? shared / (a.area() + b.area() - shared) : 0;
}

BoxCode encode(const PixelBox& box, const PixelBox& anchor) {
  return {((box.y0 + box.y1) - (anchor.y0 + anchor.y1)) / 2 / anchor.height(),
          ((box.x0 + box.x1) - (anchor.x0 + anchor.x1)) / 2 / anchor.width(), std::log(box.height() / anchor.height()),
          std::log(box.width() / anchor.width())};
}

PixelBox decode(const BoxCode& code, const PixelBox& anchor) {
  const double most = std::log(1000.0 / 16);
  const double y = (anchor.y0 + anchor.y1) / 2 + code[0] * anchor.height();
  const double x = (anchor.x0 + anchor.x1) / 2 + code[1] * anchor.width();
  const double half_height = anchor.height() * std::exp(std::min(code[2], most)) / 2;
  const double half_width = anchor.width() * std::exp(std::min(code[3], most)) / 2;
  return {y - half_height, x - half_width, y + half_height, x + half_width};
}

PixelBox clipped(const PixelBox& box, double height, double width) {
  return {std::clamp(box.y0, 0.0, height), std::clamp(box.x0, 0.0, width), std::clamp(box.y1, 0.0, height),
          std::clamp(box.x1, 0.0, width)};
}

}  // namespace voxshard
