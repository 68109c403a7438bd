// The one path from a model's graph to a program that runs or is priced. It has stages, so that a planner pays only for
// those it needs:
//
//   graph --step_graph--> with gradients, recomputing --lower_to_memory--> program, memory --lower--> checked, kernels
//   bound
//
//   Executable e = lower(build_unet(...), op_table(), cut, {.workers = 2});      // a run
//   Lowered l = lower_to_memory(step, op_table(), cut, {.tiled = true});         // a candidate, an emulated TPU
//
// Nothing is allocated: the memory required is known, and can be refused, before a CoreSet allocates it.
#pragma once

#include "libcore/memory/footprint.h"
#include "libcore/schedule/ranks.h"

namespace voxshard {

/// The target that a graph is lowered for.
struct Target {
  bool tiled = false;            // count a TPU's bytes; its kernels are not voxshard's
  bool keep_all = false;         // no memory is reused: every value can be looked at after the step
  std::int64_t guard_bytes = 0;  // left free behind each buffer, to detect writes beyond it
  KernelSet kernels = KernelSet::kFast;
  std::int64_t optimizer_slots = 0;  // tensors that the optimizer keeps for each parameter
  bool keeps_average = false;        // it also keeps an average of the parameters and states
  int workers = 1;                   // threads that run it here
  bool takes_turns = false;          // arenas lie in a file, and cores take turns in memory
  Ranks ranks;                       // the cores that this process hosts
};

/// Returns the graph of a training step: with the gradient of its output "loss", if it has one, and recomputation.
Graph step_graph(const Graph& graph, const OpTable& ops, Recompute recompute);

/// Returns the graph as it is. Errors: kInternal when it breaks an invariant.
Graph verified(Graph graph, const OpTable& ops);

/// Returns the graph with the kernels that compute it on this host filled in (OpDef::choose); kernels already stated
/// stay. Graphs priced for a TPU state none.
Graph choose_kernels(Graph step, const OpTable& ops, Convolution from);

struct Lowered {
  Program program;
  MemoryPlan memory;
  Footprint bytes;  // without the bytes of kernels
};

/// `step`: a step's graph that recomputes as `cut` says; kernels are chosen unless tiled. Not verified. Errors: kConfig
/// from partition().
Lowered lower_to_memory(Graph step, const OpTable& ops, const Cut& cut, const Target& target);

/// Runs all stages up to memory, each verified: the bytes are known, no kernel is bound. Errors: as lower().
Lowered lower_verified(const Graph& graph, const OpTable& ops, const Cut& cut, const Target& target);

/// A program made ready for this host.
struct Executable {
  Program program;
  MemoryPlan memory;
  HostKernels kernels;
  Schedule schedule;
  Footprint bytes;
};

/// Runs the last stages on a lowered program: kernels, memory for the weights that they pack, and the schedule. Nothing
/// is verified.
Executable make_executable(Lowered lowered, const OpTable& ops, const Target& target);
/// Does the same for the result of lower_verified(); the memory is verified again with packed weights.
Executable make_verified(Lowered lowered, const OpTable& ops, const Target& target);

/// Runs all stages from a model's graph on; each is verified. Errors: kConfig from the partition; kInternal when a
/// stage breaks an invariant.
Executable lower(const Graph& graph, const OpTable& ops, const Cut& cut, const Target& target);

}  // namespace voxshard
