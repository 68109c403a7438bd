// The outlines of a mask along the edges of its pixels, so that filling them by the even-odd rule over pixel centres
// gives back the mask exactly, whatever tool fills: no centre lies on an edge.
//
//   for (const PixelContour& one : mask_contours(mask, 512, 512)) ...      // corners {x, y}: {3, 4} is the corner that
//                                                                          // pixels (3, 4) and (2, 3) share
//
// Pixels that meet at a corner alone lie in contours of their own. A hole is joined to the contour around it by a
// keyhole: a line that is walked in both directions, so that tools that know no holes fill it right too.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

namespace voxshard {

/// Corners of a closed contour, the last joined to the first. Corner (x, y) lies at pixel index (x - 0.5, y - 0.5).
using PixelContour = std::vector<std::array<std::int32_t, 2>>;

/// Returns one contour for each part of the mask whose pixels are joined by edges.
///   mask     (rows, columns), 0 or 1, row by row
/// Cost: 16 bytes for each pixel and 64 for each edge between mask and background.
std::vector<PixelContour> mask_contours(const std::vector<std::uint8_t>& mask, std::int64_t rows, std::int64_t columns);

}  // namespace voxshard
