// A time line as a band along the lower edge of an image: each stretch in the colour of its class, grey where there is
// none, and a mark at the moment that the image shows.
//
//   TimeBand band(1080, 1920, {{.begin = 0, .end = 0.25, .colour = 1}, {.begin = 0.25, .end = 1, .colour = 2}});
//   band.draw(rgb, 0.5);
#pragma once

#include <cstdint>
#include <vector>

#include "libcore/tensor/tensor.h"

namespace voxshard {

/// One stretch of the band, from 0 at the left edge to 1 at the right edge.
struct BandPart {
  double begin = 0, end = 0;
  int colour = 1;  // a number of class_colour (io/image/overlay.h)
};

class TimeBand {
 public:
  /// Prepares a band for images of this size. A part is at least one column wide; where parts share a column, the later
  /// one is drawn.
  TimeBand(std::int64_t height, std::int64_t width, const std::vector<BandPart>& parts);

  /// The top row of the band; captions go above it.
  std::int64_t top() const { return height_ - rows_; }
  /// Draws into `rgb`, (H, W, 3) u8 of the size of the band; the mark is black and white, so that it is seen on any
  /// colour.   now  0 to 1
  void draw(Tensor& rgb, double now) const;

 private:
  std::int64_t height_, width_, rows_;
  std::vector<std::uint8_t> row_;  // (W, 3)
};

}  // namespace voxshard
