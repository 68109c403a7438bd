// The encoding of boxes relative to an anchor as the box head learns it (Faster R-CNN, Ren et al. 2015, eq. 2).
//
//   PixelBox box = decode({0, 0, std::log(2.0), 0}, anchor);      // as wide as the anchor, twice as high, around its
//   centre
//
// The original decodes with sides one pixel longer, because edges are pixels there, though it encodes without the extra
// pixel; here decoding inverts encoding.
#pragma once

#include <array>

#include "libcore/tensor/pixel_box.h"

namespace voxshard {

/// Intersection over union, 0 where they do not overlap.
double iou(const PixelBox& a, const PixelBox& b);

/// {ty, tx, th, tw}: the offset between the centres in units of the anchor, and the logs of the ratios of height and
/// width.
using BoxCode = std::array<double, 4>;

/// Encodes `box`. Requires: both have positive sides.
BoxCode encode(const PixelBox& box, const PixelBox& anchor);
/// Inverts encode(). Sides of more than 62.5 (1000 / 16) times the anchor's are clipped to that, so that nothing
/// overflows. Source: tensorflow/tpu, models/official/detection/utils/box_utils.py (BBOX_XFORM_CLIP).
PixelBox decode(const BoxCode& code, const PixelBox& anchor);

/// The part of the box inside the image.
PixelBox clipped(const PixelBox& box, double height, double width);

}  // namespace voxshard
