// A layout gives each core one box of a tensor. Boxes are products of one interval per axis and part of the mesh, so a
// layout is a short table. Intervals may be empty (fewer planes than cores) or equal (cores that hold replicas).
#pragma once

#include <string>
#include <vector>

#include "libcore/graph/op_def.h"
#include "libcore/partition/cut.h"

namespace voxshard {

struct Layout {
  bool replicated = true;                   // held whole, computed once per process; `axes` is then empty
  std::vector<std::vector<Interval>> axes;  // per tensor axis, per part of the mesh along that axis
  Dims grid;  // the parts that `axes` refer to, cores row-major over them; empty: those of the mesh

  Box box(const Mesh& mesh, std::int64_t core, const Shape& shape) const;
  /// Returns one box per core; a single one when replicated.
  std::vector<Box> boxes(const Mesh& mesh, const Shape& shape) const;
  /// The mesh that `axes` refer to: `mesh`, or as many replicas of `grid`.
  Mesh over(const Mesh& mesh) const { return grid.empty() ? mesh : Mesh{mesh.replicas, grid}; }
  friend bool operator==(const Layout&, const Layout&) = default;
};

/// The reason for a value's layout.
struct LayoutReason {
  enum class Kind : std::uint8_t {
    kReplicated,   // none of its inputs is cut
    kInput,        // an input, cut like the mesh
    kPlaced,       // an input, placed as the cut says
    kFollows,      // takes the cut of `from`, as the graph says
    kCarried,      // takes the cut of its first cut input, `from`, through the op's strides
    kContraction,  // a sum over the cut of `from`
    kGathered,     // whole on the first core of a replica: its weights outweigh it (OpDef::slices)
  };
  Kind kind = Kind::kReplicated;
  ValueId from = kNoValue;
};

/// "cut like the mesh", "follows encoder0/conv1/norm".
std::string to_string(const LayoutReason& reason, const Graph& graph);

struct Layouts {
  std::vector<Layout> layouts;  // per value
  std::vector<LayoutReason> reasons;
};

/// Gives each value of a graph its layout, in graph order.
///
/// Inputs of one axis lie whole on every core. Other inputs are cut greedy-ceil, placed as the cut says, or follow
/// another value. An op whose inputs are all whole has a replicated result. Any other result follows the value that its
/// node states, if that is cut. Else it takes the cut of its first cut input (preferring inputs that are not placed),
/// carried over by the op's boundary rule: an axis whose extent changes without such a rule (concat along it, slice) is
/// cut greedy-ceil again, and thin slabs are merged as the cut says. A contraction that leaves no cut axis gives a
/// replicated result. A result computed in slices of channels lies on the first core of a replica. Errors: kConfig
/// where the mesh does not fit the inputs.
Layouts propagate(const Graph& graph, const OpTable& ops, const Cut& cut);

}  // namespace voxshard
