// Pairs of classes that lie as the left and the right of a body part do, whatever their names say: at the same height
// and depth, as large as each other, and as far from the middle of the volume.
//
//   std::vector<CasePlaces> cases;
//   for (...) cases.push_back(case_places(grid, foreground, class_voxels));
//   pairs_by_place(cases, side_pairs(names))                  // {{.left = 5, .right = 2}}
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "io/volume/geometry.h"
#include "libcore/tensor/tensor.h"
#include "pipelines/tasks/sided_classes.h"

namespace voxshard {

/// The centres and sizes of the classes of a case.
struct CasePlaces {
  struct Place {
    std::array<double, 3> centre_mm{};  // x, y, z, LPS
    double volume_mm3 = 0;
  };
  double middle_mm = 0;                       // x of the middle of the volume, LPS
  std::vector<std::optional<Place>> classes;  // by class; none: no voxel
};

/// Returns the places of a case from some voxels of each class, spread evenly over it.
///   rows          by class: (n, 3) i32, each row (z, y, x); may be empty
///   class_voxels  by class
CasePlaces case_places(const Geometry& grid, std::span<const Tensor> rows, std::span<const std::int64_t> class_voxels);

/// Returns the pairs, each class in one at most; those that mirror each other best come first. A pair is there where at
/// least 5 cases have both, no more have only one, the left one is on the left in all of these, and in nine tenths of
/// them: their heights, their depths, and their distances from the middle of the volume differ by at most a quarter of
/// the distance between them, and their volumes by at most a factor of 1.5.
///   cases  all with the same number of classes
///   named  pairs by their names, whose classes are not looked at
std::vector<SidePair> pairs_by_place(const std::vector<CasePlaces>& cases, const std::vector<SidePair>& named);

}  // namespace voxshard
