// A layout gives each core one box of a tensor. Boxes are products of one interval per axis and part of the mesh, so a
// layout is a short table. Intervals may be empty (fewer planes than cores) or equal (cores that hold replicas).
#pragma once

#include <map>

#include "libcore/graph/op_def.h"
#include "libcore/partition/mesh.h"

namespace voxshard {

struct Layout {
  bool replicated = true;  // held whole, computed once per process; `axes` is then empty
  std::vector<std::vector<Interval>> axes;  // per tensor axis, per part of the mesh along that axis
  Dims grid;  // the parts that `axes` are about, cores row-major over them; empty: those of the mesh

  Box box(const Mesh& mesh, std::int64_t core, const Shape& shape) const;
  /// The mesh over whose parts `axes` tells: `mesh`, or as many replicas of `grid`.
  Mesh over(const Mesh& mesh) const { return grid.empty() ? mesh : Mesh{mesh.replicas, grid}; }
};

/// How an input lies on the cores of a replica when the host feeds it. What other cores need of it follows by exchange.
///   example: images cut 1x4x1x1x1, labels on the first core: the host feeds one label map, cores 1 to 3 get their slabs
struct InputPlacement {
  enum class Kind : std::uint8_t {
    kCut,        // over `grid`
    kReplicated, // whole on every core
    kFirstCore,  // whole on logical core 0, nothing on the others
    kWhereDivisible,  // kCut where every part count of the grid divides every spatial extent, else kReplicated
  };
  Kind kind = Kind::kCut;
  Dims grid;  // parts per axis, as many as a replica has cores; empty: those of the mesh
  friend bool operator==(const InputPlacement&, const InputPlacement&) = default;
};

struct PlacedInput {
  std::string name;
  InputPlacement placement;
  friend bool operator==(const PlacedInput&, const PlacedInput&) = default;
};

/// How a program is cut beyond its mesh.
struct PartitionOptions {
  /// Where strides leave parts of fewer planes than this along a cut axis, neighbours are merged two by two onto the first
  /// of them until they have as many: a coarser grid for the deep levels, whose other cores then wait. 0: never.
  ///   example: 256 planes over 16 cores, three poolings: 2 planes a core; with 4 here 8 cores hold 4 planes each
  std::int64_t thinnest_slab = 0;
  /// Inputs that are not cut like the mesh. Names that the graph lacks are no error.
  std::vector<PlacedInput> inputs;

  /// Null for an input that is cut like the mesh.
  const InputPlacement* placement_of(const std::string& input) const;
  friend bool operator==(const PartitionOptions&, const PartitionOptions&) = default;
};

/// Chooses the layout of each value in graph order.
///
/// Inputs are cut greedy-ceil, or placed as the options say; a placed one gives its layout to results only where no other
/// cut value is read. A result takes the layout that tensors of its leading extents already have (so both sides
/// of a skip connection agree), else the cut of its first cut input carried over by the op's boundary rule; an axis whose
/// extent changes without such a rule (concat along it, slice) is cut greedy-ceil again. A contraction that leaves no cut
/// axis gives a replicated result. Carried cuts are made coarser as the options say.
class LayoutTable {
 public:
  LayoutTable(const Mesh& mesh, const OpTable& ops, const PartitionOptions& options)
      : mesh_(mesh), ops_(ops), options_(options) {}
  Layout of(const Graph& graph, ValueId id, const std::vector<Layout>& earlier);

 private:
  Layout of_input(const Shape& shape, const InputPlacement& placement) const;
  std::vector<Interval> cut_anew(const Shape& shape, int axis, const Dims& grid) const;
  bool is_placed(const Node& node) const;
  Layout of_contraction(const OpDef& def, const OpContext& op, const Layout& driver);
  Layout carried(const OpDef& def, const OpContext& op, const Layout& from, const Shape& from_shape);

  const Mesh& mesh_;
  const OpTable& ops_;
  PartitionOptions options_;
  std::map<Dims, Layout> by_extents_;  // key: all extents but the channels
};

}  // namespace voxshard
