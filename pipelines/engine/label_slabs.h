// Post-processing of a label map slab by slab: what a step has to know of the whole it gathers while it sees the slabs
// in order, and then it rewrites them one after another. No step holds a second label map, and a map that is too large
// for memory can be fed from wherever its slabs lie.
//
//   SidesStep sides(rule, geometry);
//   rewrite_slabs(LabelSlabs::of(labels), {&sides, &largest});     // largest sees what sides wrote
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "libcore/tensor/tensor.h"

namespace voxshard {

/// A step over the slabs of one label map.
class SlabStep {
 public:
  virtual ~SlabStep() = default;
  /// Sees a slab of one or more whole planes (D, H, W), i32, of which `box` says where it lies in the map; slabs come
  /// in the order of their planes.
  virtual void see(const TensorView& slab) = 0;
  /// Called once when all slabs were seen.
  virtual void seen() {}
  /// Rewrites a slab in place; slabs come in the same order again, but may be cut elsewhere.
  virtual void rewrite(const TensorView& slab) = 0;
};

/// A label map as slabs that are visited in order, as often as needed; what a visit changes stays.
struct LabelSlabs {
  std::function<void(const std::function<void(const TensorView& slab)>& visit)> for_each;

  /// Returns the slabs of a map in memory, which must outlive this.
  ///   planes  of a slab; 0: as many as lie in about 1 MiB
  static LabelSlabs of(const Tensor& labels, std::int64_t planes = 0);
};

/// Runs the steps one after another: each sees the map as the one before it rewrote it, in the same visit. N steps
/// visit the map N + 1 times; none of it without steps. Errors: those of the steps; what the steps before wrote stays.
void rewrite_slabs(const LabelSlabs& slabs, const std::vector<SlabStep*>& steps);

}  // namespace voxshard
