// The anchors of RetinaNet: on each level of the pyramid, around the centre of each cell, one box per scale and aspect.
//
//   auto levels = anchor_levels({640, 480}, {});      // P3 to P7: 80x60, 40x30, 20x15, 10x8, 5x4 cells of 9 anchors
//   levels[0].box(0, 0, 0)                            // {-12, -12, 20, 20}: 4 strides of 8 wide, around (4, 4)
//
// Anchors are numbered level by level, cell by cell in rows, scale by scale, in the same order as the channels of the
// heads. Source: tensorflow/tpu, models/official/detection/dataloader/anchor.py; variant (a)
// models/official/retinanet/anchors.py.
#pragma once

#include <cmath>
#include <cstdint>
#include <iterator>
#include <vector>

#include "libcore/detection/box_coding.h"
#include "libcore/tensor/shape.h"

namespace voxshard {

inline constexpr int kFirstLevel = 3, kLastLevel = 7;  // pyramid levels; a cell of level L is 2^L pixels wide
inline constexpr int kLevels = kLastLevel - kFirstLevel + 1;

/// Height and width of an anchor of one scale, as multiples of its side.
struct Aspect {
  double height = 1, width = 1;
};

struct AnchorOptions {
  int first_level = kFirstLevel, last_level = kLastLevel;
  int scales = 3;   // 2^(i / scales), i = 0 .. scales - 1
  double side = 4;  // in cells
  std::vector<Aspect> aspects = {{1, 1}, {std::sqrt(0.5), std::sqrt(2.0)}, {std::sqrt(2.0), std::sqrt(0.5)}};
  std::vector<Aspect> shapes = {};  // height and width in cells, instead of scales, side and aspects; empty: those

  std::int64_t per_cell() const { return shapes.empty() ? scales * std::ssize(aspects) : std::ssize(shapes); }
  /// Returns the height and width of each anchor of a cell, in cells.
  std::vector<Aspect> shapes_of_cell() const;
};

struct AnchorLevel {
  int level = kFirstLevel;
  std::int64_t stride = 8;             // pixels
  std::int64_t height = 0, width = 0;  // cells
  std::int64_t first = 0;              // number of its first anchor
  std::vector<Aspect> halves;          // per anchor of a cell: half its height and width, pixels

  std::int64_t per_cell() const { return static_cast<std::int64_t>(halves.size()); }
  std::int64_t count() const { return height * width * per_cell(); }
  std::int64_t number(std::int64_t y, std::int64_t x, std::int64_t anchor) const {
    return first + (y * width + x) * per_cell() + anchor;
  }
  double centre(std::int64_t cell) const { return (static_cast<double>(cell) + 0.5) * static_cast<double>(stride); }
  PixelBox box(std::int64_t y, std::int64_t x, std::int64_t anchor) const {
    const Aspect& half = halves[anchor];
    return {centre(y) - half.height, centre(x) - half.width, centre(y) + half.height, centre(x) + half.width};
  }
};

/// The levels of an image of `size` (H, W): ceil(H / 2^L) x ceil(W / 2^L) cells. Centres may lie outside an image whose
/// size is not a multiple of 128.
std::vector<AnchorLevel> anchor_levels(const Dims& size, const AnchorOptions& options);

}  // namespace voxshard
