// Changes the colours of an image: hue, saturation, contrast and brightness, in this order.
//
//   recolour(rgb, {.shift = 0.1, .hue_degrees = 10});     // (H, W, 3) f32, 0 to 1
#pragma once

#include "libcore/tensor/tensor.h"

namespace voxshard {

struct ColourChange {
  double shift = 0;        // added to all channels; 1 is from black to white
  double contrast = 1;     // factor of the distance from the mean grey of the image
  double saturation = 1;   // factor of the distance from grey
  double hue_degrees = 0;  // angle by which U and V of BT.601 are rotated, so that each pixel keeps its grey
};

/// Changes the values of an image and clips them to 0 to 1. An image of one channel has no hue and no saturation.
///   pixels  (H, W, 1 or 3) f32, 0 to 1, red first
/// Errors: kInternal for an image of another shape or type.   Source of the grey and of U and V: ITU-R BT.601.
void recolour(Tensor& pixels, const ColourChange& change);

}  // namespace voxshard
