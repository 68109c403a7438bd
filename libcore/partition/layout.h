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
  Dims grid;  // the parts that `axes` are about, cores row-major over them; empty: those of the mesh

  Box box(const Mesh& mesh, std::int64_t core, const Shape& shape) const;
  /// Of every core; one when replicated.
  std::vector<Box> boxes(const Mesh& mesh, const Shape& shape) const;
  /// The mesh over whose parts `axes` tells: `mesh`, or as many replicas of `grid`.
  Mesh over(const Mesh& mesh) const { return grid.empty() ? mesh : Mesh{mesh.replicas, grid}; }
  friend bool operator==(const Layout&, const Layout&) = default;
};

/// Why a value lies as it does.
struct LayoutReason {
  enum class Kind : std::uint8_t {
    kReplicated,   // nothing of what it is made from is cut
    kInput,        // an input, cut like the mesh
    kPlaced,       // an input, placed as the cut says
    kFollows,      // the graph says whose cut it takes: `from`
    kCarried,      // its first cut input's, `from`, through the op's strides
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
/// Inputs of one axis lie whole on every core. The others are cut greedy-ceil, or placed as the cut says, or follow. An
/// op whose inputs are all whole has a replicated result. A result follows the value that its node states, where that
/// is cut; else it takes the cut of its first cut input (of one that is not placed, where there is), carried over by
/// the op's boundary rule: an axis whose extent changes without such a rule (concat along it, slice) is cut greedy-ceil
/// again, and what is carried is made coarser as the cut says. A contraction that leaves no cut axis gives a replicated
/// result. What is computed in slices of channels lies on the first core of a replica. Errors: kConfig where the mesh
/// does not fit the inputs.
Layouts propagate(const Graph& graph, const OpTable& ops, const Cut& cut);

}  // namespace voxshard
