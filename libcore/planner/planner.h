// The planner: among all legal grids, core counts, replicas, recomputations and slab widths it finds the fastest that
// fits the memory of a core, and gives a reason for every rejected candidate.
//
//   std::vector<Candidate> all = price_candidates(problem, ops, device, pool);
//   std::optional<std::size_t> best = choose(all, Preference::kFastest);
//
// Memory comes from the plan that a run uses (in tiles on a TPU), time from the device. Pure: nothing is allocated or
// run.
#pragma once

#include <optional>

#include "libcore/base/parallel.h"
#include "libcore/device/device.h"
#include "libcore/lower/lower.h"

namespace voxshard {

struct PlanProblem {
  /// The model's graph up to its loss. Its inputs have N samples: the batch of a step over all replicas.
  Graph graph;
  Cut cut;                           // each candidate keeps its placement of inputs
  std::int64_t cores = 1;            // maximum
  bool exactly = false;              // only grids of exactly `cores` cores
  std::int64_t core_bytes = 0;       // budget of one core; 0: no limit
  std::int64_t all_cores_bytes = 0;  // budget of all cores of one process together; 0: no limit
  std::int64_t optimizer_slots = 2;  // tensors that the optimizer stores per parameter: Adam 2, momentum 1
  bool keeps_average = false;        // it also stores an average of the parameters and states
  int workers = 1;                   // threads that would run the plan on this machine
  int ranks = 1;                     // processes among which the cores are divided; each takes at least one
  bool tiled = true;                 // count bytes as on a TPU
  std::vector<Recompute> recompute = {Recompute::kNone, Recompute::kNorms, Recompute::kUpsampling, Recompute::kLevels};
  std::vector<std::int64_t> thinnest_slabs = {0, 4};
  Feed feed;

  /// The target as seen by the last rank, since no rank hosts more cores.
  Target target() const {
    return {.tiled = tiled,
            .optimizer_slots = optimizer_slots,
            .keeps_average = keeps_average,
            .workers = workers,
            .ranks = {.rank = ranks - 1, .ranks = ranks}};
  }
};

enum class Verdict : std::uint8_t {
  kFits,
  kOver,       // a core, or all cores together, would exceed the budget
  kNotNeeded,  // not priced: the same grid fits with less recomputation
};

struct Candidate {
  Cut cut;

  Verdict verdict = Verdict::kNotNeeded;
  std::int64_t core_bytes = 0;      // of the widest core: arena, parameters, optimizer state, replicated results
  std::int64_t all_bytes = 0;       // of a process: the arenas of its rank (all without ranks), everything else once
  std::int64_t over_bytes = 0;      // bytes beyond the budget
  std::vector<Allocation> largest;  // of the widest core, when it is over

  double step_s = 0, device_s = 0, feed_s = 0;
  double halo_bytes = 0, all_reduce_bytes = 0;
  std::int64_t messages = 0;
  int hops = 0;
  std::int64_t thinnest_planes = 0;  // planes of the widest part along a cut axis, minimum over layers; 0: not cut
  std::string thinnest_layer;
  std::int64_t idle_cores = 0;  // cores that hold nothing of some layer, maximum over layers

  bool fits() const { return verdict == Verdict::kFits; }
};

/// Returns all legal meshes: a power of two of parts on each spatial axis, at most one per plane; 1 to 128 cores per
/// replica; replicas that divide the batch. Sorted by ascending number of cores, fewer replicas first.
std::vector<Mesh> legal_meshes(const Shape& image, std::int64_t cores, bool exactly);

/// Returns every candidate that has at least as many cores as there are ranks, with its verdict, in the order of
/// legal_meshes. Errors: kConfig when the graph cannot be cut at all.
/// Cost: 10 to 60 ms per candidate and worker.   Threads: runs on `pool`.
std::vector<Candidate> price_candidates(const PlanProblem& problem, const OpTable& ops, const Device& device,
                                        WorkerPool& pool);

/// Sets the bytes and verdict of a candidate from its footprint: without kernels when it is priced, with them when it
/// is confirmed.
void set_bytes(const PlanProblem& problem, const Footprint& bytes, Candidate& candidate);

/// Prices a candidate that was kNotNeeded, after one with less recomputation turned out not to fit.
void price_candidate(const PlanProblem& problem, const OpTable& ops, const Device& device, Candidate& candidate);

enum class Preference { kFastest, kFewestCores };

/// Returns the best candidate that fits: the shortest step (or the fewest cores, then the shortest step); a tie within
/// 0.1 % goes to fewer cores, less recomputation, fewer messages, cuts of outer axes. Nullopt when none fits.
std::optional<std::size_t> choose(const std::vector<Candidate>& candidates, Preference preference);

/// Returns the candidate that exceeds the budget by the fewest bytes. Nullopt when none exceeds it.
std::optional<std::size_t> nearest_miss(const std::vector<Candidate>& candidates);

}  // namespace voxshard
