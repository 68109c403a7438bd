// The cut of a graph over cores: one value passed from the command line, a config file or the planner to the program,
// the memory plan and the checkpoint. The plan and the run agree because both hold the same Cut.
//
//   Cut cut{.mesh = {.partition = {1, 2, 2, 2, 1}}, .recompute = Recompute::kNorms};
//   Program program = partition(with_recomputation(graph, ops, cut.recompute), ops, cut);
#pragma once

#include <string>
#include <vector>

#include "libcore/graph/recompute.h"
#include "libcore/partition/mesh.h"

namespace voxshard {

/// The placement of an input on the cores of a replica when the host feeds it. An exchange then copies what other cores
/// need.
///   example: images cut 1x4x1x1x1, labels on the first core: the host feeds one label map, cores 1 to 3 get their
///   slabs
struct InputPlacement {
  enum class Kind : std::uint8_t {
    kCut,             // over `grid`
    kReplicated,      // whole on every core
    kFirstCore,       // whole on logical core 0, nothing on the others
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

struct Cut {
  Mesh mesh;
  /// When strides leave parts of fewer planes than this along a cut axis, neighbours are merged two by two onto the
  /// first until they have that many: a coarser grid for the deep levels, in which the other cores wait. 0: never.
  ///   example: 256 planes over 16 cores, three poolings: 2 planes a core; with 4 here 8 cores hold 4 planes each
  std::int64_t thinnest_slab = 0;
  /// Inputs that are not cut like the mesh. Names missing from the graph are no error.
  std::vector<PlacedInput> inputs;
  /// The forward results that the backward pass recomputes instead of keeping them.
  Recompute recompute = Recompute::kNone;
  /// The set of kernels from which those of convolutions are chosen.
  Convolution convolution = Convolution::kFast;

  /// Returns null for an input that is cut like the mesh.
  const InputPlacement* placement_of(const std::string& input) const;
  /// Returns the same cut over another mesh. A grid given to an input for this mesh does not apply there: it is cut
  /// like the mesh.
  Cut over(const Mesh& other) const;
  friend bool operator==(const Cut&, const Cut&) = default;
};

}  // namespace voxshard
