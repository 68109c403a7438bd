// Boxes with a caption drawn into an image or a frame, through OpenCV.
//
//   draw_boxes(rgb, std::array{DrawnBox{.box = {.x = 40, .y = 30, .width = 20, .height = 10}, .caption = "0.93"}});
//
// Lines and letters grow with the image, so that a 2560 x 2560 frame shown small can still be read.
#pragma once

#include <span>
#include <string>

#include "libcore/tensor/pixel_box.h"
#include "libcore/tensor/tensor.h"

namespace voxshard {

struct DrawnBox {
  CocoBox box;          // pixels; may reach beyond the image
  int colour = 1;       // a number of class_colour (io/image/overlay.h): that of a class or of a track
  std::string caption;  // above the box, or inside where there is no room; moved up or down, or left out, where it
                        // would cover that of a later box; other than printable ASCII becomes '?'
};

/// Draws into `rgb`, (H, W, 3) u8, in the order given; the same boxes give the same bytes. Lines lie on the outermost
/// pixels of a box; an edge at x = 12.4 is drawn at 12. A box that is not finite, has no area or lies outside is not
/// drawn.
/// Errors: kInternal for another shape or type.
void draw_boxes(Tensor& rgb, std::span<const DrawnBox> boxes);

}  // namespace voxshard
