// What counts as the surface of a mask, a row per convention: its elements, the weight of each, and the percentile of
// weighted distances. Published tools differ here, so that each number names its convention.
//
//   const SurfaceConvention& convention = *find_convention("surfels");
//   const SurfaceElements elements = convention.elements(mask, {5, 0.7, 0.7});
//   elements.weights[elements.codes.at[0]];                    // mm^2 of the first element; 0 when there is none
#pragma once

#include <array>
#include <string>
#include <vector>

#include "libcore/metrics/surface/mask.h"

namespace voxshard {

/// A byte for each possible place of an element; its weight stands in the table. Weight 0: there is no element.
struct SurfaceElements {
  Mask codes;  // 0: no element
  std::array<double, 256> weights{};
};

struct SurfaceConvention {
  const char* name;
  const char* rule;  // for readers of the results
  /// Returns the elements. All masks of one comparison have equal sizes, and so have their elements.
  SurfaceElements (*elements)(const Mask& mask, const GridSpacing& spacing_mm);
  /// True: the percentile lies between two distances, as numpy.percentile places it; the weights are all 1. False: it
  /// is the smallest distance up to which the elements have this share of the weight.
  bool interpolates;
};

/// Both conventions; the first is the default.
///   voxels   the voxels of the mask that one of the 6 neighbours outside touches, each with weight 1; beyond the grid
///            is outside. Source: scipy.ndimage.binary_erosion with its defaults, as MetricsReloaded uses it
///            (Project-MONAI/MetricsReloaded, commit 00219d0, metrics/pairwise_measures.py).
///   surfels  the corners between 2 x 2 x 2 voxels that are neither all inside nor all outside, weighted by the area of
///            the surface there. Source: google-deepmind/surface-distance, commit 2791a73, surface_distance/metrics.py.
const std::vector<SurfaceConvention>& surface_conventions();
/// Returns the row of this name; null for no row.
const SurfaceConvention* find_convention(const std::string& name);

}  // namespace voxshard
