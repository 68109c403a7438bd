// Of each class of a label map its largest connected part: small islands that a model finds elsewhere become
// background. The map is seen plane by plane, in order, and then rewritten plane by plane.
//
//   LargestComponents largest({0, 1, 1}, most_bytes);                // of the classes 1 and 2
//   for (...) largest.see(planes);
//   largest.seen();
//   for (...) largest.rewrite(planes);
//   largest.removed()                                                // voxels by class
#pragma once

#include <cstdint>
#include <deque>
#include <vector>

#include "libcore/tensor/tensor.h"

namespace voxshard {

/// Voxels that share a face, an edge or a corner are connected; of equal parts the one that comes first in memory is
/// kept. Memory: 12 bytes for each run of voxels of one class along a row, and the runs of two planes.
class LargestComponents {
 public:
  ///   of_class    1 for a class that this is done to; classes behind its end are left alone
  ///   most_bytes  memory that the runs may take; 0: no limit
  ///   kept_above  parts with more than this share of the voxels of the largest are kept too
  explicit LargestComponents(std::vector<char> of_class, std::int64_t most_bytes = 0, double kept_above = 1);

  /// Joins the parts of some planes with those before.
  ///   planes  (D, H, W) i32, 0 or more; W is dense, and H and W are those of all planes
  /// Errors: kInput E_BUDGET when the runs take more than most_bytes.
  void see(const TensorView& planes);
  /// Chooses the parts that are kept. Requires that all planes were seen.
  void seen();
  /// Returns the number of parts of a class that have at least so many voxels. Requires seen().
  std::int64_t parts(std::size_t label, std::int64_t least_voxels);
  /// Sets the voxels of all parts that are not kept to 0. Planes come in the order in which they were seen.
  void rewrite(const TensorView& planes);
  /// Returns the voxels that became background, by class.
  const std::vector<std::int64_t>& removed() const { return removed_; }

 private:
  struct Run {
    std::int64_t begin = 0, end = 0;  // along the row
    std::size_t label = 0;
    std::uint32_t id = 0;  // among the runs of its class, in the order of memory
  };
  using Rows = std::vector<std::vector<Run>>;  // of a plane
  /// The runs of one class as a union-find forest: the root of a set is its first run.
  struct Forest {
    std::deque<std::uint32_t> parent;
    std::deque<std::int64_t> voxels;  // of a run; of a set at its root, once all were seen
    std::uint32_t root(std::uint32_t run);
    void join(std::uint32_t a, std::uint32_t b);
  };
  Run new_run(std::int64_t begin, std::int64_t end, std::size_t label);
  bool is_kept(std::size_t label, std::uint32_t root) const;
  void join_rows(const std::vector<Run>& row, const std::vector<Run>& before);

  std::vector<char> of_class_;
  std::int64_t most_bytes_;
  double kept_above_;
  std::int64_t runs_ = 0;
  std::vector<Forest> forests_;  // by class, as the others
  std::vector<std::uint32_t> largest_, next_;
  std::vector<std::int64_t> removed_;
  Rows plane_, before_;
};

}  // namespace voxshard
