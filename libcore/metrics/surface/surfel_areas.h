// The area of the piece of surface between 2 x 2 x 2 voxels, for each of the 256 ways in which they can lie inside or
// outside, by marching cubes (Lorensen and Cline 1987) with the cuts in the middle of the edges.
//
//   const SurfelAreas areas = surfel_areas({5, 0.7, 0.7});
//   areas[0b11110000];                                         // 0.49 mm^2: a plane between two slices
//
// Bit 7 - (4 d + 2 h + w) of a code is set when the voxel at (d, h, w) of the eight is inside. The areas follow from
// three rules, so that no table of triangles is needed:
//   1. Where more than four are inside, the surface is that of the voxels outside: the fewer ones are cut off.
//   2. Voxels that do not share an edge of the cube are cut off apart from each other: this settles the ambiguous
//   codes.
//   3. Of the triangulations of a cut through one group, the one with the largest area on a grid of 1 mm is taken.
// They give the areas of all 256 codes of the published table (google-deepmind/surface-distance, commit 57c1e2c,
// surface_distance/lookup_tables.py), compared at four spacings to 1e-12.
#pragma once

#include <array>

#include "libcore/metrics/surface/mask.h"

namespace voxshard {

using SurfelAreas = std::array<double, 256>;

/// Returns mm^2 by code; 0 for the codes 0 and 255.
///   spacing_mm  along D, H, W
SurfelAreas surfel_areas(const GridSpacing& spacing_mm);

}  // namespace voxshard
