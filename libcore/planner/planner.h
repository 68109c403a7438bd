// The planner: of all legal grids, core counts, replicas, recomputations and slab widths, the fastest that fits the
// memory of a core, each other one with the reason why not.
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
  Cut cut;                           // what each candidate keeps of it: how inputs are placed
  std::int64_t cores = 1;            // at most
  bool exactly = false;              // only grids of that many cores
  std::int64_t core_bytes = 0;       // budget of one core; 0: no limit
  std::int64_t all_cores_bytes = 0;  // budget of all cores of this process together; 0: no limit
  std::int64_t optimizer_slots = 2;  // tensors that the optimizer keeps per parameter: Adam 2, momentum 1
  int workers = 1;                   // threads that would run it here
  int ranks = 1;                     // processes that share out the cores: each takes at least one
  bool tiled = true;                 // bytes of a TPU
  std::vector<Recompute> recompute = {Recompute::kNone, Recompute::kNorms, Recompute::kUpsampling, Recompute::kLevels};
  std::vector<std::int64_t> thinnest_slabs = {0, 4};
  Feed feed;

  /// Of the last rank: no other hosts more cores.
  Target target() const {
    return {.tiled = tiled,
            .optimizer_slots = optimizer_slots,
            .workers = workers,
            .ranks = {.rank = ranks - 1, .ranks = ranks}};
  }
};

enum class Verdict : std::uint8_t {
  kFits,
  kOver,       // a core, or all together, would need more than there is
  kNotNeeded,  // recomputes, though the same grid fits without; not priced
};

struct Candidate {
  Cut cut;

  Verdict verdict = Verdict::kNotNeeded;
  std::int64_t core_bytes = 0;      // of the widest core: arena, parameters, optimizer state, replicated results
  std::int64_t all_bytes = 0;       // of a process: all arenas, or those of its rank, the rest once
  std::int64_t over_bytes = 0;      // how much too much
  std::vector<Allocation> largest;  // of the widest core, when it is over

  double step_s = 0, device_s = 0, feed_s = 0;
  double halo_bytes = 0, all_reduce_bytes = 0;
  std::int64_t messages = 0;
  int hops = 0;
  std::int64_t thinnest_planes = 0;  // of the widest part along a cut axis, where that is least; 0: not cut
  std::string thinnest_layer;
  std::int64_t idle_cores = 0;  // they hold nothing, where most do

  bool fits() const { return verdict == Verdict::kFits; }
};

/// All legal meshes: a power of two of parts on each spatial axis that has as many planes, 1 to 128 cores a replica,
/// replicas that divide the batch; in ascending number of cores, fewer replicas first.
std::vector<Mesh> legal_meshes(const Shape& image, std::int64_t cores, bool exactly);

/// Every candidate of at least as many cores as ranks with its verdict, in the order of legal_meshes. Errors: kConfig
/// when the graph cannot be cut at all. Cost: 10 to 60 ms per candidate and worker.   Threads: runs on `pool`.
std::vector<Candidate> price_candidates(const PlanProblem& problem, const OpTable& ops, const Device& device,
                                        WorkerPool& pool);

/// Bytes and verdict of a candidate from what it takes: without kernels when it is priced, with them when it is
/// confirmed.
void set_bytes(const PlanProblem& problem, const Footprint& bytes, Candidate& candidate);

/// Prices one that was not needed, when one that recomputes less turned out not to fit after all.
void price_candidate(const PlanProblem& problem, const OpTable& ops, const Device& device, Candidate& candidate);

enum class Preference { kFastest, kFewestCores };

/// The best candidate that fits: the shortest step (or the fewest cores, then the shortest step); a tie within one in a
/// thousand goes to fewer cores, less recomputation, fewer messages, cuts of outer axes. Nullopt when none fits.
std::optional<std::size_t> choose(const std::vector<Candidate>& candidates, Preference preference);

/// The candidate that is over by the least. Nullopt when there is none.
std::optional<std::size_t> nearest_miss(const std::vector<Candidate>& candidates);

}  // namespace voxshard
