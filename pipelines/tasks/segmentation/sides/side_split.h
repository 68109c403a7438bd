// Splits the joined classes of a predicted label map into left and right, by the rule that training wrote down. A label
// map is seen first, box by box in any order, which places the planes; then each box is split by itself.
//
//   SideSplit split(rule, grid);
//   split.see(labels.view());
//   split.split(labels.view(), labels.view());               // classes of the model -> classes of the data
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "io/volume/volume.h"
#include "pipelines/engine/label_slabs.h"
#include "pipelines/tasks/segmentation/sides/side_rule.h"

namespace voxshard {

class SideSplit {
 public:
  ///   grid  of the label map; its axes may lie in any direction
  SideSplit(const SideRule& rule, const Geometry& grid);

  /// Adds the places of the classes of a box.
  ///   labels  (D, H, W) u8 or i32, classes of the model; its box is that in the volume
  void see(const TensorView& labels);

  /// Returns x (mm, LPS) of the plane of each pair, by what was seen.
  std::vector<double> planes_mm() const;

  /// Writes the classes of the data of a box. Requires that every box was seen.
  ///   labels  as for see()
  ///   to      i32, the same extents; may be `labels`
  void split(const TensorView& labels, const TensorView& to) const;

 private:
  /// The voxels of a class, and the sums of their indices along x, y, z.
  struct Sums {
    std::int64_t voxels = 0;
    std::array<std::int64_t, 3> index{};
  };
  template <class Label>
  void see_as(const TensorView& labels);
  template <class Label>
  void split_as(const TensorView& labels, const TensorView& to) const;

  SideRule rule_;
  JoinedClasses joined_;
  Geometry grid_;
  std::vector<Sums> sums_;  // by class of the model
};

/// The split as a step over the slabs of a label map, i32.
class SidesStep : public SlabStep {
 public:
  SidesStep(const SideRule& rule, const Geometry& grid) : split_(rule, grid) {}

  void see(const TensorView& slab) override { split_.see(slab); }
  void rewrite(const TensorView& slab) override { split_.split(slab, slab); }

 private:
  SideSplit split_;
};

/// Splits a whole label map in place; without a rule it stays as it is.
///   labels  i32, classes of the model
void split_sides(const SideRule& rule, const Volume& labels);

}  // namespace voxshard
