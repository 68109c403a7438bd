// A partitioned graph: the boxes that each core owns and holds of each value, and the instructions that all cores run
// in lock step. Made by partition(), read by memory/ and runtime/.
//
//   compute      each core runs an op over its blocks (iteration boxes); replicated values once per process
//   join         the all-reduce: adds the partial results of a contraction in a binary tree over (core, block)
//   fill_margin  sets to zero what a core holds outside the tensor
//   exchange     copies what a core holds of other cores' boxes; it only copies
//   pack         reorders the weights of the op that follows for its kernel, once per process; a TPU has no use for it
#pragma once

#include <string>
#include <vector>

#include "libcore/partition/layout.h"

namespace voxshard {

enum class InstructionKind : std::uint8_t { kCompute, kJoin, kFillMargin, kExchange, kPack };
inline constexpr const char* kInstructionNames[] = {"compute", "join", "fill_margin", "exchange", "pack"};

/// Element copy of `box` from the core that owns it into the margin of another.
struct Copy {
  std::int64_t from = 0;
  std::int64_t to = 0;
  Box box;
  friend bool operator==(const Copy&, const Copy&) = default;
};

struct Instruction {
  InstructionKind kind = InstructionKind::kCompute;
  ValueId value = kNoValue;  // kPack: the result of the op whose weights are packed
  /// kCompute: per core the blocks of its iteration box, fixed by shapes and mesh alone. A replicated computation has
  /// one list. Contractions: each block gives one partial result.
  std::vector<std::vector<Box>> blocks;
  bool partial = false;      // kCompute: results are partial, a join follows
  std::vector<Copy> copies;  // kExchange
  friend bool operator==(const Instruction&, const Instruction&) = default;
};

struct ValuePlan {
  Layout layout;
  LayoutReason reason;    // informative only, not compared
  std::vector<Box> own;   // per core; one entry when replicated
  std::vector<Box> held;  // the owned box and the margins that some reader needs
  friend bool operator==(const ValuePlan& a, const ValuePlan& b) {
    return a.layout == b.layout && a.own == b.own && a.held == b.held;
  }
};

struct Program {
  Graph graph;
  Cut cut;
  std::vector<ValuePlan> values;
  std::vector<Instruction> instructions;
  /// The first `prologue` instructions read parameters only and are independent; all others run after them.
  std::size_t prologue = 0;

  const Mesh& mesh() const { return cut.mesh; }
  const ValuePlan& plan(ValueId id) const { return values[id]; }
  bool replicated(ValueId id) const { return plan(id).layout.replicated; }
  friend bool operator==(const Program&, const Program&) = default;
};

/// Partitions a graph that already recomputes as the cut says (with_recomputation). Errors: kConfig where the mesh does
/// not fit the inputs.
Program partition(Graph graph, const OpTable& ops, const Cut& cut);

/// Returns every broken invariant, one line each: owned boxes tile their tensor, held boxes hold what readers need,
/// exchanges copy each margin voxel exactly once from its owner, values are computed before use.
std::vector<std::string> verify(const Program& program, const OpTable& ops);

/// True when the partial results of `compute` need memory and a join; a single one is written in place.
bool needs_join(const Instruction& compute);

/// The iteration box of each core for node `id`: owned boxes of the result, or of the driver for a contraction (a box
/// that several cores hold counts once).
std::vector<Box> iteration_boxes(const Program& program, const OpTable& ops, ValueId id);

/// Cuts an iteration box into blocks: along N, then along the first spatial axis with room. `count` is a target. With a
/// grain (one entry per axis) blocks begin on multiples of it, all but the first.
std::vector<Box> split_blocks(const Box& box, std::int64_t count, const Dims& grain = {});

}  // namespace voxshard
