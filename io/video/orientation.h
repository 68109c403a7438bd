// The rotation of a stored image before it is shown: the display matrix that phones and cameras write into mp4 and mov,
// as one of the eight ways to turn and mirror a rectangle.
//
//   VideoOrientation o = orientation_from_matrix({0, 65536, 0, -65536, 0, 0, 0, 0, 1 << 30});   // a quarter turn
//   o.clockwise_degrees();                                                                       // 90
//   turn(stored, o, upright);    // (W, H, 3) from (H, W, 3)
#pragma once

#include <array>
#include <cstdint>

#include "libcore/tensor/tensor.h"

namespace voxshard {

/// One of eight orientations: `transpose` exchanges rows and columns first, then the flips mirror the result.
struct VideoOrientation {
  bool transpose = false;
  bool flip_x = false, flip_y = false;
  bool exact = true;  // false: the file's angle is no multiple of 90 degrees; the nearest one is taken

  bool is_identity() const { return !transpose && !flip_x && !flip_y; }
  /// True when left and right are exchanged before the rotation.
  bool mirrored() const { return transpose == (flip_x == flip_y); }
  /// Returns the rotation, 0, 90, 180 or 270, after mirroring left and right if mirrored().
  int clockwise_degrees() const;
};

/// Converts a display matrix. `matrix`: {a, b, u, c, d, v, x, y, w}; a to d are 16.16 fixed point and move the stored
/// point (p, q) to (a p + c q, b p + d q), q growing downwards; the others are ignored.
/// Source: ISO/IEC 14496-12, 8.3.2 (tkhd) and libavutil/display.h.
VideoOrientation orientation_from_matrix(const std::array<std::int32_t, 9>& matrix);

/// Rotates `stored`, (H, W, 3) u8, into `upright`, (W, H, 3) when rows and columns are exchanged; reuses memory that
/// fits.
void turn(const Tensor& stored, const VideoOrientation& orientation, Tensor& upright);

}  // namespace voxshard
