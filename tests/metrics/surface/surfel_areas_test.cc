// Areas of the pieces of surface between eight voxels, counted by hand.
#include "libcore/metrics/surface/surfel_areas.h"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>

namespace voxshard {
namespace {

/// The code of these corners, each written as the digits d, h, w.
unsigned code_of(const std::vector<std::array<unsigned, 3>>& corners) {
  unsigned code = 0;
  for (const auto& [d, h, w] : corners) code |= 1U << (7 - (4 * d + 2 * h + w));
  return code;
}

constexpr GridSpacing kSpacing = {5, 3, 2};

/// The area of a triangle that is seen as d, h, w eighths of a voxel's faces along the axes.
double seen(double d, double h, double w) { return std::hypot(d * 3 * 2, h * 5 * 2, w * 5 * 3) / 8; }

TEST(SurfelAreas, OneOfEachKindByHand) {
  const SurfelAreas areas = surfel_areas(kSpacing);
  EXPECT_EQ(areas[0], 0);
  EXPECT_EQ(areas[255], 0);
  EXPECT_NEAR(areas[0b10000000], seen(1, 1, 1), 1e-12) << "a corner: a triangle between three middles";
  EXPECT_NEAR(areas[0b11110000], 3 * 2, 1e-12) << "half: a face across D";
  EXPECT_NEAR(areas[0b11001100], 5 * 2, 1e-12) << "half: a face across H";
  EXPECT_NEAR(areas[0b10101010], 5 * 3, 1e-12) << "half: a face across W";
  EXPECT_NEAR(areas[code_of({{0, 0, 0}, {0, 0, 1}})], 2 * seen(2, 2, 0), 1e-12) << "an edge along W: a rectangle";
  EXPECT_NEAR(areas[code_of({{0, 0, 0}, {0, 1, 1}})], 2 * seen(1, 1, 1), 1e-12) << "a diagonal: two corners";
  EXPECT_NEAR(areas[code_of({{0, 0, 0}, {0, 0, 1}, {0, 1, 0}})], seen(4, 0, 0) + seen(3, 3, 3), 1e-12)
      << "an L: half a face across D, and a trapezoid";
  EXPECT_NEAR(areas[code_of({{0, 0, 0}, {1, 0, 0}, {0, 1, 0}, {0, 0, 1}})], seen(6, 6, 6), 1e-12) << "a hexagon";
  EXPECT_NEAR(areas[code_of({{0, 0, 0}, {0, 0, 1}, {1, 1, 0}, {1, 1, 1}})], 4 * seen(2, 2, 0), 1e-12)
      << "two edges: apart";
  EXPECT_NEAR(areas[code_of({{0, 0, 0}, {0, 1, 1}, {1, 0, 1}, {1, 1, 0}})], 4 * seen(1, 1, 1), 1e-12)
      << "four corners: apart";
}

TEST(SurfelAreas, AScrewOfFourIsTheLargestOfItsTriangulations) {
  // Code 27 of lookup_tables.py (google-deepmind/surface-distance, commit 57c1e2c): (1, 1, 1), (3, 3, 3), (0, 2, 2) and
  // (2, 0, 2) eighths; 29 and 39 are the same with other axes.
  const SurfelAreas areas = surfel_areas(kSpacing);
  const double flat = seen(1, 1, 1) + seen(3, 3, 3);
  EXPECT_NEAR(areas[27], flat + seen(0, 2, 2) + seen(2, 0, 2), 1e-12);
  EXPECT_NEAR(areas[29], flat + seen(0, 2, 2) + seen(2, 2, 0), 1e-12);
  EXPECT_NEAR(areas[39], flat + seen(0, 2, 2) + seen(2, 0, 2), 1e-12);
}

TEST(SurfelAreas, InsideAndOutsideMayBeExchanged) {
  // Not among the codes of four corners: where they are ambiguous, those inside are cut off, and not those outside.
  const SurfelAreas areas = surfel_areas(kSpacing);
  for (unsigned code = 1; code < 255; ++code) {
    EXPECT_GT(areas[code], 0) << code;
    if (std::popcount(code) == 4) continue;
    EXPECT_NEAR(areas[code], areas[255 - code], 1e-12) << code;
  }
}

TEST(SurfelAreas, MirroredCornersHaveMirroredAreas) {
  // Exchanging two axes with their spacings, and mirroring one, changes no area.
  const SurfelAreas areas = surfel_areas({5, 3, 2}), exchanged = surfel_areas({3, 5, 2});
  for (unsigned code = 0; code < 256; ++code) {
    unsigned mirrored = 0, turned = 0;
    for (unsigned c = 0; c < 8; ++c) {
      if ((code >> c & 1U) == 0) continue;
      mirrored |= 1U << (c ^ 2U);
      turned |= 1U << ((c & 1U) | (c >> 1U & 2U) | (c << 1U & 4U));
    }
    EXPECT_NEAR(areas[code], areas[mirrored], 1e-12) << code;
    EXPECT_NEAR(areas[code], exchanged[turned], 1e-12) << code;
  }
}

}  // namespace
}  // namespace voxshard
