// The exact Euclidean distance of every voxel to the nearest one of a set, on a grid whose axes have their own spacing.
//
//   const std::vector<double> mm2 = squared_distances(sites, {5, 0.7, 0.7});
//   std::sqrt(mm2[sites.index(2, 0, 0)]);                     // 10 mm from a site at (0, 0, 0)
//
// Called by surface_distances.cc. squared_distances_by_pairs() is the slow, obvious version that the tests hold beside
// it.
#pragma once

#include <vector>

#include "libcore/metrics/surface/mask.h"

namespace voxshard {

/// Returns the squared distance to the nearest site, in mm^2, for each voxel; infinity where there is no site.
///   sites       a voxel that is not 0 is a site
///   spacing_mm  along D, H, W; finite and > 0
/// The terms of a distance are rounded and added in the order of scipy.ndimage.distance_transform_edt, so that a
/// tolerance cuts at the same voxels. Errors: kInternal for another spacing.
/// Cost: O(voxels), 8 bytes a voxel.   Source: Felzenszwalb and Huttenlocher 2012, "Distance transforms of sampled
/// functions", one pass of lower envelopes of parabolas per axis.
std::vector<double> squared_distances(const Mask& sites, const GridSpacing& spacing_mm);

/// The same from all pairs of voxels and sites. Cost: voxels x sites.
std::vector<double> squared_distances_by_pairs(const Mask& sites, const GridSpacing& spacing_mm);

}  // namespace voxshard
