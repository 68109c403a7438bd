// Text in an image or a frame, through OpenCV: light letters on a dark colour, dark ones on a light colour.
//
//   draw_caption(rgb, {.x = 40, .y = 30, .colour = 3, .text = "cell 0.93"});
//
// Lines and letters grow with the image, so that a 2560 x 2560 frame shown small can still be read.
#pragma once

#include <cstdint>
#include <string>

#include "libcore/tensor/tensor.h"

namespace voxshard {

struct DrawnCaption {
  std::int64_t x = 0, y = 0;  // the text stands above row y, from column x; below y where there is no room above
  int colour = 1;             // background: a number of class_colour (io/image/overlay.h)
  std::string text;           // as printable_text() shows it
};

/// The pixels that a caption covers.
struct CaptionPlace {
  int left = 0, top = 0, width = 0, height = 0;
  bool meets(const CaptionPlace& other) const {
    return left < other.left + other.width && other.left < left + width && top < other.top + other.height &&
           other.top < top + height;
  }
};

/// Returns where a caption stands in an image of (H, W, ..): above row y or below it, moved into the image.
CaptionPlace caption_place(const Dims& shape, const DrawnCaption& caption);

/// Draws a caption at a place of caption_place(), which may have been moved. Errors: as below.
void draw_caption_at(Tensor& rgb, const DrawnCaption& caption, const CaptionPlace& place);

/// Draws into `rgb`, (H, W, 3) u8; a caption that would reach beyond the image is moved into it. The same caption gives
/// the same bytes.
/// Errors: kInternal for another shape or type.
void draw_caption(Tensor& rgb, const DrawnCaption& caption);

/// Returns a text that OpenCV's font can show: other than printable ASCII becomes '?'.
std::string printable_text(std::string text);

/// Returns the line width in pixels for an image of (H, W, ..).
int drawn_line_px(const Dims& shape);

}  // namespace voxshard
