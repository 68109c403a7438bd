// Boxes in pixels, and their coding relative to an anchor as the box head learns it (Faster R-CNN, Ren et al. 2015, eq. 2).
//
//   PixelBox box = decode({0, 0, std::log(2.0), 0}, anchor);      // as wide as the anchor, twice as high, around its centre
//
// Edges are continuous coordinates: the box of the pixel in the corner is {0, 0, 1, 1}. (The original decodes with sides that
// are one pixel longer, edges being pixels there, though it codes without; here decoding inverts coding.)
#pragma once

#include <array>

namespace voxshard {

struct PixelBox {
  double y0 = 0, x0 = 0, y1 = 0, x1 = 0;

  double height() const { return y1 - y0; }
  double width() const { return x1 - x0; }
  /// 0 for a box that is turned inside out.
  double area() const { return height() > 0 && width() > 0 ? height() * width() : 0; }
  friend bool operator==(const PixelBox&, const PixelBox&) = default;
};

/// Intersection over union, 0 where they do not overlap.
double iou(const PixelBox& a, const PixelBox& b);

/// {ty, tx, th, tw}: the way between the centres in units of the anchor, and the logs of the ratios of height and width.
using BoxCode = std::array<double, 4>;

/// Requires: both have positive sides.
BoxCode encode(const PixelBox& box, const PixelBox& anchor);
/// The inverse. Sides of more than 62.5 (1000 / 16) times the anchor's are cut to that, so that nothing overflows.
/// Source: tensorflow/tpu, models/official/detection/utils/box_utils.py (BBOX_XFORM_CLIP).
PixelBox decode(const BoxCode& code, const PixelBox& anchor);

/// The part inside of an image.
PixelBox clipped(const PixelBox& box, double height, double width);

}  // namespace voxshard
