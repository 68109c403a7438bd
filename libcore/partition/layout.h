// A layout gives each core one box of a tensor. Boxes are products of one interval per axis and part of the mesh, so a
// layout is a short table. Intervals may be empty (fewer planes than cores) or equal (cores that hold replicas).
#pragma once

#include <map>

#include "libcore/graph/op_def.h"
#include "libcore/partition/cut.h"

namespace voxshard {

struct Layout {
  bool replicated = true;  // held whole, computed once per process; `axes` is then empty
  std::vector<std::vector<Interval>> axes;  // per tensor axis, per part of the mesh along that axis
  Dims grid;  // the parts that `axes` are about, cores row-major over them; empty: those of the mesh

  Box box(const Mesh& mesh, std::int64_t core, const Shape& shape) const;
  /// Of every core; one when replicated.
  std::vector<Box> boxes(const Mesh& mesh, const Shape& shape) const;
  /// The mesh over whose parts `axes` tells: `mesh`, or as many replicas of `grid`.
  Mesh over(const Mesh& mesh) const { return grid.empty() ? mesh : Mesh{mesh.replicas, grid}; }
  friend bool operator==(const Layout&, const Layout&) = default;
};

/// Chooses the layout of each value in graph order.
///
/// Inputs are cut greedy-ceil, or placed as the cut says; a placed one gives its layout to results only where no other
/// cut value is read. A result takes the layout that tensors of its leading extents already have (so both sides
/// of a skip connection agree), else the cut of its first cut input carried over by the op's boundary rule; an axis whose
/// extent changes without such a rule (concat along it, slice) is cut greedy-ceil again. A contraction that leaves no cut
/// axis gives a replicated result. Carried cuts are made coarser as the cut says.
class LayoutTable {
 public:
  LayoutTable(const OpTable& ops, const Cut& cut) : ops_(ops), cut_(cut), mesh_(cut.mesh) {}
  Layout of(const Graph& graph, ValueId id, const std::vector<Layout>& earlier);

 private:
  Layout of_input(const Shape& shape, const InputPlacement& placement) const;
  std::vector<Interval> cut_anew(const Shape& shape, int axis, const Dims& grid) const;
  bool is_placed(const Node& node) const;
  Layout of_contraction(const OpDef& def, const OpContext& op, const Layout& driver);
  Layout carried(const OpDef& def, const OpContext& op, const Layout& from, const Shape& from_shape);

  const OpTable& ops_;
  const Cut& cut_;
  const Mesh& mesh_;
  std::map<Dims, Layout> by_extents_;  // key: all extents but the channels
};

}  // namespace voxshard
