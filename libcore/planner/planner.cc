#include "libcore/planner/planner.h"

#include <algorithm>
#include <tuple>
#include <vector>

#include "libcore/planner/budget.h"

namespace voxshard {
namespace {

constexpr std::int64_t kMostCoresPerReplica = 128;  // num_cores_per_replica of the original system

/// Finds the layer with the thinnest part along a cut axis (the first such layer), and the largest number of cores that
/// hold nothing of some layer.
void find_thin_layers(const Program& program, Candidate& candidate) {
  for (ValueId id = 0; id < program.graph.size(); ++id) {
    const ValuePlan& plan = program.plan(id);
    if (plan.layout.axes.size() < 2) continue;  // held by every core, or a sum per sample
    const std::int64_t idle =
        std::count_if(plan.own.begin(), plan.own.end(), [](const Box& own) { return own.empty(); });
    candidate.idle_cores = std::max(candidate.idle_cores, idle);
    for (std::size_t a = 1; a < plan.layout.axes.size(); ++a) {
      std::int64_t widest = 0;
      int parts = 0;
      for (const auto& [begin, end] : plan.layout.axes[a]) {
        widest = std::max(widest, end - begin);
        parts += end > begin ? 1 : 0;
      }
      if (parts < 2 || (candidate.thinnest_planes > 0 && widest >= candidate.thinnest_planes)) continue;
      candidate.thinnest_planes = widest;
      candidate.thinnest_layer = program.graph.node(id).name;
    }
  }
}

/// True when `cut` merges parts of some layer. The layouts show it, so no program is built.
bool merges_parts(const Graph& graph, const OpTable& ops, const Cut& cut) {
  Cut plain_cut = cut;
  plain_cut.thinnest_slab = 0;
  const std::vector<Layout> plain = propagate(graph, ops, plain_cut).layouts,
                            merged = propagate(graph, ops, cut).layouts;
  for (std::size_t i = 0; i < plain.size(); ++i)
    if (plain[i].axes != merged[i].axes) return true;
  return false;
}

/// Sets the verdict, bytes and seconds of a candidate; `step` is the graph with the candidate's recomputation.
void price(const PlanProblem& problem, const OpTable& ops, const Device& device, const Graph& step, Candidate& c) {
  const Lowered lowered = lower_to_memory(step, ops, c.cut, problem.target());
  find_thin_layers(lowered.program, c);
  set_bytes(problem, lowered.bytes, c);
  if (c.over_bytes > 0) c.largest = largest_allocations(lowered.program, lowered.memory, lowered.bytes.widest(), 5);
  const StepPrice price = device.price(lowered.program, ops, problem.feed);
  c.step_s = price.step_s;
  c.device_s = price.device_s;
  c.feed_s = price.feed_s;
  c.halo_bytes = price.halo_bytes;
  c.all_reduce_bytes = price.all_reduce_bytes;
  c.messages = price.messages;
  c.hops = price.widest_hops;
}

class Pricing {
 public:
  Pricing(const PlanProblem& problem, const OpTable& ops, const Device& device)
      : problem_(problem), ops_(ops), device_(device), plain_(step(Recompute::kNone)) {
    for (Recompute recompute : problem.recompute) graphs_.push_back(step(recompute));
  }

  /// Returns all candidates of one mesh and slab width; more recomputation is priced only while less does not fit. None
  /// when the slab width merges nothing, because that plan equals the one without it.
  std::vector<Candidate> run(const Mesh& mesh, std::int64_t thinnest_slab) const {
    Cut cut = problem_.cut.over(mesh);
    cut.thinnest_slab = thinnest_slab;
    if (thinnest_slab > 0 && !merges_parts(plain_, ops_, cut)) return {};
    std::vector<Candidate> candidates;
    bool fits = false;
    for (std::size_t r = 0; r < graphs_.size(); ++r) {
      cut.recompute = problem_.recompute[r];
      Candidate candidate{.cut = cut};
      if (!fits) {
        price(problem_, ops_, device_, graphs_[r], candidate);
        fits = candidate.fits();
      }
      candidates.push_back(std::move(candidate));
    }
    return candidates;
  }

 private:
  /// Returns the step graph; kernels are chosen here, once for all candidates.
  Graph step(Recompute recompute) const {
    Graph graph = step_graph(problem_.graph, ops_, recompute);
    return problem_.tiled ? graph : choose_kernels(std::move(graph), ops_, problem_.cut.convolution);
  }

  const PlanProblem& problem_;
  const OpTable& ops_;
  const Device& device_;
  Graph plain_;  // without recomputation
  std::vector<Graph> graphs_;
};

}  // namespace

void set_bytes(const PlanProblem& problem, const Footprint& bytes, Candidate& c) {
  c.core_bytes = bytes.widest_core();
  c.all_bytes = bytes.process();
  c.over_bytes = 0;
  if (problem.core_bytes > 0) c.over_bytes = std::max(c.over_bytes, c.core_bytes - problem.core_bytes);
  if (problem.all_cores_bytes > 0) c.over_bytes = std::max(c.over_bytes, c.all_bytes - problem.all_cores_bytes);
  c.verdict = c.over_bytes > 0 ? Verdict::kOver : Verdict::kFits;
}

std::vector<Mesh> legal_meshes(const Shape& image, std::int64_t cores, bool exactly) {
  const int spatial = image.axes() - 2;
  std::vector<Dims> partitions{Dims::filled(image.axes(), 1)};
  for (int axis = 1; axis <= spatial; ++axis) {
    std::vector<Dims> finer;
    for (const Dims& dims : partitions)
      for (std::int64_t parts = 1;
           parts <= image[axis] && element_count(dims) * parts <= std::min(cores, kMostCoresPerReplica); parts *= 2) {
        finer.push_back(dims);
        finer.back()[axis] = parts;
      }
    partitions = std::move(finer);
  }
  std::vector<Mesh> meshes;
  for (std::int64_t replicas = 1; replicas <= std::min(image[0], cores); ++replicas) {
    if (image[0] % replicas != 0) continue;
    for (const Dims& dims : partitions) {
      const Mesh mesh{.replicas = replicas, .partition = dims};
      if (mesh.cores() <= cores && (!exactly || mesh.cores() == cores)) meshes.push_back(mesh);
    }
  }
  std::stable_sort(meshes.begin(), meshes.end(), [](const Mesh& a, const Mesh& b) {
    return std::tuple(a.cores(), a.replicas) < std::tuple(b.cores(), b.replicas);
  });
  return meshes;
}

std::vector<Candidate> price_candidates(const PlanProblem& problem, const OpTable& ops, const Device& device,
                                        WorkerPool& pool) {
  const Shape image = problem.graph.node(image_of(problem.graph)).type.shape;
  std::vector<Mesh> meshes = legal_meshes(image, problem.cores, problem.exactly);
  std::erase_if(meshes, [&](const Mesh& mesh) { return mesh.cores() < problem.ranks; });
  const auto widths = static_cast<std::int64_t>(problem.thinnest_slabs.size());
  const Pricing pricing(problem, ops, device);
  std::vector<std::vector<Candidate>> by_task(meshes.size() * problem.thinnest_slabs.size());
  // Meshes with many cores come first because they take longest.
  const auto tasks = static_cast<std::int64_t>(by_task.size());
  pool.run(tasks, [&](std::int64_t task, int) {
    const std::int64_t index = tasks - 1 - task;
    by_task[index] = pricing.run(meshes[index / widths], problem.thinnest_slabs[index % widths]);
  });
  std::vector<Candidate> all;
  for (auto& candidates : by_task)
    for (auto& candidate : candidates) all.push_back(std::move(candidate));
  return all;
}

void price_candidate(const PlanProblem& problem, const OpTable& ops, const Device& device, Candidate& candidate) {
  price(problem, ops, device, step_graph(problem.graph, ops, candidate.cut.recompute), candidate);
}

std::optional<std::size_t> choose(const std::vector<Candidate>& candidates, Preference preference) {
  constexpr double kTie = 1.001;
  std::int64_t fewest = 0;
  double fastest = 0;
  for (const Candidate& c : candidates) {
    if (!c.fits()) continue;
    const bool first = fewest == 0;
    const bool fewer = c.cut.mesh.cores() < fewest, equal = c.cut.mesh.cores() == fewest;
    if (first || (preference == Preference::kFewestCores ? fewer || (equal && c.step_s < fastest) : c.step_s < fastest))
      fastest = c.step_s;
    if (first || fewer) fewest = c.cut.mesh.cores();
  }
  std::optional<std::size_t> best;
  auto rank = [&](const Candidate& c) {
    // Cuts of outer axes leave longer rows, so partitions whose first entries are larger come first.
    std::vector<std::int64_t> inner;
    for (auto parts : c.cut.mesh.partition) inner.push_back(-parts);
    return std::tuple(c.cut.mesh.cores(), c.cut.recompute, c.messages, inner, c.step_s);
  };
  for (std::size_t i = 0; i < candidates.size(); ++i) {
    const Candidate& c = candidates[i];
    if (!c.fits() || c.step_s > fastest * kTie) continue;
    if (preference == Preference::kFewestCores && c.cut.mesh.cores() != fewest) continue;
    if (!best || rank(c) < rank(candidates[*best])) best = i;
  }
  return best;
}

std::optional<std::size_t> nearest_miss(const std::vector<Candidate>& candidates) {
  std::optional<std::size_t> nearest;
  for (std::size_t i = 0; i < candidates.size(); ++i)
    if (candidates[i].verdict == Verdict::kOver &&
        (!nearest || candidates[i].over_bytes < candidates[*nearest].over_bytes))
      nearest = i;
  return nearest;
}

}  // namespace voxshard
