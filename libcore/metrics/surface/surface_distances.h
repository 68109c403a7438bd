// The distances between the surfaces of two masks, summed up for each direction, and the scores that follow from them.
//
//   const SurfaceDistances s = surface_distances(prediction, reference, {5, 0.7, 0.7}, {.tolerance_mm = 2});
//   nsd(s);                                                    // 0.93: the share of both surfaces within 2 mm
//   hausdorff(s), hausdorff_percentile(s), average_distance(s) // mm
//
// Called by label_metrics.cc, for one class at a time. An empty mask has no surface: these scores are then NaN or 0,
// and an EmptyRule says what is reported.
#pragma once

#include "libcore/metrics/surface/surface_convention.h"

namespace voxshard {

struct SurfaceOptions {
  const SurfaceConvention* convention = &surface_conventions().front();
  double tolerance_mm = 1;  // the largest distance at which surfaces count as equal
  double percent = 95;      // of hausdorff_percentile()
};

/// The distances from all elements of one surface to the nearest element of the other.
struct DirectedDistances {
  double weight = 0;         // of the elements: their number or their area, mm^2
  double within = 0;         // weight of those at most the tolerance away
  double weighted_mm = 0;    // sum of weight x distance
  double largest_mm = 0;     // infinite, as the next one, when the other surface has no element
  double percentile_mm = 0;  // by the convention's definition

  bool empty() const { return weight == 0; }
  /// NaN without an element.
  double mean_mm() const { return weighted_mm / weight; }
};

struct SurfaceDistances {
  DirectedDistances from_prediction, from_reference;
};

/// Measures both directions.
///   prediction, reference  masks of equal sizes: the box that holds both (class_boxes) is enough, as what lies beyond
///                          it counts as outside
///   spacing_mm             along D, H, W
/// Errors: kInternal for unequal sizes, a spacing that is not above 0, and a percentage outside of 0 .. 100.
/// Cost: O(voxels); memory: surface_bytes() beside the masks.
SurfaceDistances surface_distances(const Mask& prediction, const Mask& reference, const GridSpacing& spacing_mm,
                                   const SurfaceOptions& options);

/// Returns the most bytes that the comparison of masks of this size takes, with the masks.
double surface_bytes(const GridSize& size);

/// Normalised surface distance, or surface Dice (Nikolov et al. 2021, "Clinically applicable segmentation of head and
/// neck anatomy"): the share of both surfaces within the tolerance of the other, in 0 .. 1. NaN when both are empty.
double nsd(const SurfaceDistances& s);
/// Hausdorff distance, mm: the largest distance of an element to the other surface. NaN when both are empty.
double hausdorff(const SurfaceDistances& s);
/// The larger one of the two directions' percentiles, mm. NaN when both are empty.
double hausdorff_percentile(const SurfaceDistances& s);
/// Average symmetric surface distance, mm: the mean over the elements of both surfaces. NaN when both are empty.
double average_distance(const SurfaceDistances& s);

}  // namespace voxshard
