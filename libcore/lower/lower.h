// The one road from a model's graph to what runs or is priced. In stages, so that a planner pays for no more than it
// asks:
//
//   graph --step_graph--> with gradients, recomputing --lower_to_memory--> program, memory --lower--> checked, kernels
//   bound
//
//   Executable e = lower(build_unet(...), op_table(), cut, {.workers = 2});      // a run
//   Lowered l = lower_to_memory(step, op_table(), cut, {.tiled = true});         // a candidate, an emulated TPU
//
// Nothing is allocated: what it needs can be asked, and refused, before a CoreSet takes memory.
#pragma once

#include "libcore/memory/footprint.h"
#include "libcore/schedule/ranks.h"

namespace voxshard {

/// For whom a graph is lowered.
struct Target {
  bool tiled = false;            // a TPU's bytes; its kernels are not ours
  bool keep_all = false;         // no memory is reused: every value can be looked at after the step
  std::int64_t guard_bytes = 0;  // left free behind each buffer, for a memory watch
  KernelSet kernels = KernelSet::kFast;
  std::int64_t optimizer_slots = 0;  // tensors that the optimizer keeps for each parameter
  int workers = 1;                   // threads that run it here
  Ranks ranks;                       // the cores that this process hosts
};

/// The graph of a step: with the gradient of its output "loss", if it has one, and recomputing.
Graph step_graph(const Graph& graph, const OpTable& ops, Recompute recompute);

/// The graph with the kernels stated that compute it on this host (OpDef::choose); those that are stated stay. What is
/// priced for a TPU has none.
Graph choose_kernels(Graph step, const OpTable& ops, Convolution from);

struct Lowered {
  Program program;
  MemoryPlan memory;
  Footprint bytes;  // without those of kernels
};

/// `step`: the graph of a step, which recomputes as `cut` says; kernels are chosen unless it is tiled. Not verified.
/// Errors: kConfig from the partition.
Lowered lower_to_memory(Graph step, const OpTable& ops, const Cut& cut, const Target& target);

/// The whole road up to there, each stage verified: what it takes is known, no kernel is bound. Errors: as lower().
Lowered lower_verified(const Graph& graph, const OpTable& ops, const Cut& cut, const Target& target);

/// A program made ready for this host.
struct Executable {
  Program program;
  MemoryPlan memory;
  HostKernels kernels;
  Schedule schedule;
  Footprint bytes;
};

/// The last stages: kernels, room for what they pack, and the schedule of a lowered program; nothing is
/// verified.
Executable make_executable(Lowered lowered, const OpTable& ops, const Target& target);
/// The same of what lower_verified() gave; the memory is verified again with what kernels pack.
Executable make_verified(Lowered lowered, const OpTable& ops, const Target& target);

/// The whole road from a model's graph; each stage is verified. Errors: kConfig from the partition; kInternal when a
/// stage breaks an invariant.
Executable lower(const Graph& graph, const OpTable& ops, const Cut& cut, const Target& target);

}  // namespace voxshard
