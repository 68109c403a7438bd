#include "pipelines/planning/run_plan.h"

#include <nlohmann/json.hpp>

#include "libcore/base/stopwatch.h"
#include "libcore/base/text.h"
#include "libcore/ops/op_table.h"
#include "pipelines/tasks/table/task_table.h"

namespace voxshard {
namespace {

constexpr std::int64_t kMostCores = 128;
constexpr std::int64_t kUsualCores = 16;  // most cores per sample in the original's documentation

/// Returns the most cores to plan for: those of the original's largest slice, or of the device if it has fewer.
std::int64_t most_cores(const Device& device) {
  const std::vector<std::int64_t> slices = device.slices();
  return slices.empty() ? kMostCores : std::min(kMostCores, slices.back());
}

std::int64_t usual_cores(const PlanOptions& o) {
  return std::min(std::max<std::int64_t>(kUsualCores, o.ranks), most_cores(*o.device.device));
}

/// True when the plan counts this machine's memory: its bytes are those of a run here, kernels included.
bool in_process(const PlanOptions& o) {
  return !o.device.device->emulated() || o.host_budget_bytes > 0 || (o.for_run && o.core_budget_bytes > 0);
}

PlanProblem problem_of(const PlanOptions& o, const Graph& graph) {
  const Device& device = *o.device.device;
  PlanProblem problem{.graph = graph,
                      .cut = o.spec.cut,
                      .cores = o.cores > 0 ? o.cores : o.device.cores.value_or(usual_cores(o)),
                      .exactly = o.exactly,
                      .core_bytes = o.core_budget_bytes,
                      .all_cores_bytes = o.host_budget_bytes,
                      .optimizer_slots = Optimizer::slots(o.optimizer),
                      .keeps_average = o.optimizer.ema > 0,
                      .workers = o.threads,
                      .ranks = o.ranks,
                      .tiled = device.tiled() && !in_process(o),
                      .feed = feed_of(graph, task_of(task_table(), o.spec).records())};
  if (o.core_budget_bytes == 0 && !in_process(o)) problem.core_bytes = device.core_bytes();
  return problem;
}

/// Returns the range of core counts that the plan considers.
std::string cores_text(const PlanOptions& o, const PlanProblem& problem) {
  if (o.exactly || o.ranks == 1) return (o.exactly ? "exactly " : "up to ") + std::to_string(problem.cores);
  return std::to_string(o.ranks) + " (one for each rank) to " + std::to_string(problem.cores);
}

std::string grid_text(const Candidate& c) {
  std::string text = to_string(c.cut.mesh.partition);
  if (c.cut.mesh.replicas > 1) text += " x " + std::to_string(c.cut.mesh.replicas) + " replicas";
  if (c.cut.recompute != Recompute::kNone) text += ", recomputing " + std::string(recompute_name(c.cut.recompute));
  if (c.cut.thinnest_slab > 0) text += ", slabs of at least " + std::to_string(c.cut.thinnest_slab);
  return text;
}

[[noreturn]] void refuse(const PlanOptions& o, const PlanProblem& problem, const std::vector<Candidate>& candidates,
                         WorkerPool& pool) {
  const auto nearest = nearest_miss(candidates);
  ensure(nearest.has_value(), "a plan that nothing fits has a nearest miss");
  const Candidate& c = candidates[*nearest];
  const std::string limit = problem.all_cores_bytes > 0 ? bytes_text(problem.all_cores_bytes) + " of all cores together"
                                                        : bytes_text(problem.core_bytes) + " of a core";
  std::string text = "[plan] no grid of " + std::string(o.exactly ? "" : "up to ") + std::to_string(problem.cores) +
                     " cores fits " + limit + "; nearest is " + grid_text(c) + ", over by " + bytes_text(c.over_bytes) +
                     ". Its largest allocations:";
  text += allocations_text(c.largest);
  const std::int64_t most = most_cores(*o.device.device);
  if (o.advises && problem.all_cores_bytes == 0 && problem.cores < most) {
    PlanProblem wider = problem;
    wider.cores = most;
    wider.exactly = false;
    const auto more = price_candidates(wider, op_table(), *o.device.device, pool);
    if (const auto best = choose(more, Preference::kFewestCores))
      throw Error(ErrorKind::kBudget, text + "\nThis fits: " + grid_text(more[*best]) + " (" +
                                          std::to_string(more[*best].cut.mesh.cores()) + " cores)");
  }
  const std::int64_t needed = problem.all_cores_bytes > 0 ? c.all_bytes : c.core_bytes;
  throw Error(ErrorKind::kBudget, text + "\nThis would fit: " + bytes_text(needed) +
                                      (problem.all_cores_bytes > 0 ? " in all" : " a core") +
                                      ", or a smaller size, batch or number of base filters");
}

/// Confirms the best candidate with its kernels: on this machine their scratch and reordered weights count too, and are
/// known only once kernels are bound.
void confirm_on_host(const PlanOptions& o, const PlanProblem& problem, PlanReport& report) {
  const std::size_t index = *report.best;
  Candidate& c = report.candidates[index];
  const Executable executable = lower(problem.graph, op_table(), c.cut, problem.target());
  report.bytes = executable.bytes;
  set_bytes(problem, executable.bytes, c);
  if (c.fits()) return;
  c.largest = largest_allocations(executable.program, executable.memory, executable.bytes.widest(), 5);
  // The next candidate recomputes more on the same grid, or is the first of another grid and already priced.
  if (index + 1 < report.candidates.size() && report.candidates[index + 1].verdict == Verdict::kNotNeeded)
    price_candidate(problem, op_table(), *o.device.device, report.candidates[index + 1]);
}

/// Prices the grids of up to `problem.cores` cores, and chooses one of them, if one fits.
void choose_among(const PlanOptions& o, const PlanProblem& problem, WorkerPool& pool, PlanReport& report) {
  report.candidates = price_candidates(problem, op_table(), *o.device.device, pool);
  while ((report.best = choose(report.candidates, o.preference))) {
    if (!in_process(o)) return;
    confirm_on_host(o, problem, report);
    if (report.chosen().fits()) return;
  }
}

/// Chooses for a run that wants the fewest cores without a price of those that have more than the ones that do.
void choose_fewest(const PlanOptions& o, PlanProblem problem, WorkerPool& pool, PlanReport& report) {
  const std::int64_t most = problem.cores;
  for (problem.cores = std::max(1, o.ranks); problem.cores < most && !report.best; problem.cores *= 2)
    choose_among(o, problem, pool, report);
}

void describe(const PlanOptions& o, const PlanProblem& problem, PlanReport& report) {
  const Cut& cut = report.chosen().cut;
  const Lowered lowered =
      lower_to_memory(step_graph(problem.graph, op_table(), cut.recompute), op_table(), cut, problem.target());
  if (!in_process(o)) report.bytes = lowered.bytes;
  report.memory = memory_report(lowered.program, lowered.memory, lowered.bytes.widest());
  report.largest = largest_allocations(lowered.program, lowered.memory, report.memory.core, 8);
  report.price = o.device.device->price(lowered.program, op_table(), problem.feed);
}

nlohmann::ordered_json to_json(const Candidate& c) {
  nlohmann::ordered_json json = {{"partition", to_string(c.cut.mesh.partition)},
                                 {"replicas", c.cut.mesh.replicas},
                                 {"cores", c.cut.mesh.cores()},
                                 {"recompute", recompute_name(c.cut.recompute)},
                                 {"thinnest_slab", c.cut.thinnest_slab},
                                 {"fits", c.fits()},
                                 {"reason", reason_text(c)}};
  if (c.verdict == Verdict::kNotNeeded) return json;
  json.update({{"core_bytes", c.core_bytes},
               {"all_bytes", c.all_bytes},
               {"over_bytes", c.over_bytes},
               {"step_seconds", c.step_s},
               {"device_seconds", c.device_s},
               {"feed_seconds", c.feed_s},
               {"halo_bytes", c.halo_bytes},
               {"all_reduce_bytes", c.all_reduce_bytes},
               {"messages", c.messages},
               {"hops", c.hops},
               {"thinnest_planes", c.thinnest_planes},
               {"thinnest_layer", c.thinnest_layer},
               {"idle_cores", c.idle_cores}});
  return json;
}

nlohmann::ordered_json memory_json(const PlanReport& r) {
  const MemoryReport& m = r.memory;
  nlohmann::ordered_json largest = nlohmann::ordered_json::array();
  for (const Allocation& a : r.largest)
    largest.push_back({{"layer", a.layer},
                       {"shape", std::string(dtype_name(a.type.dtype)) + "[" + to_string(a.box.extent) + "]"},
                       {"bytes", a.bytes},
                       {"unpadded_bytes", a.unpadded_bytes},
                       {"expansion", a.expansion()}});
  return {{"core", m.core},
          {"budget_bytes", r.core_budget_bytes},
          {"parameters", m.parameter_bytes},
          {"optimizer_state", r.bytes.optimizer},
          {"gradients", m.gradient_bytes},
          {"kept_activations", m.kept_bytes},
          {"transient_activations", m.transient_bytes},
          {"halo_margins", m.halo_bytes},
          {"partial_sums", m.partial_bytes},
          {"gaps", m.gap_bytes},
          {"arena", m.arena_bytes},
          {"replicated", m.replicated_bytes},
          {"reordered_weights", r.bytes.packed},
          {"workspace", r.bytes.workspaces},
          {"widest_layer", m.widest_layer},
          {"largest", largest}};
}

}  // namespace

std::string reason_text(const Candidate& c) {
  switch (c.verdict) {
    case Verdict::kFits:
      return "fits";
    case Verdict::kNotNeeded:
      return "fits with less recomputation";
    case Verdict::kOver:
      break;
  }
  std::string text = "over by " + bytes_text(c.over_bytes);
  if (!c.largest.empty()) text += ": " + c.largest.front().layer + " " + bytes_text(c.largest.front().bytes);
  return text;
}

PlanReport run_plan(const PlanOptions& o, Progress& progress) {
  const Stopwatch watch;
  const PlanProblem problem = problem_of(o, build_graph(o.spec, o.extents, Phase::kTrain, o.spec.precision));
  if (problem.cores < 1 || problem.cores > 4096)
    throw Error(ErrorKind::kConfig, "[plan] {cores} is " + std::to_string(problem.cores) + "; expected 1 to 4096");
  if (problem.cores < o.ranks)
    throw Error(ErrorKind::kConfig, "[plan] " + std::to_string(o.ranks) + " ranks cannot share out " +
                                        std::to_string(problem.cores) + (problem.cores == 1 ? " core" : " cores") +
                                        "; give {cores} " + std::to_string(o.ranks) + ", or start fewer ranks");
  WorkerPool pool(o.threads);
  PlanReport report{.device = o.device.device->name(),
                    .emulated = o.device.device->emulated(),
                    .core_budget_bytes = problem.core_bytes};
  if (o.for_run && !o.exactly && o.preference == Preference::kFewestCores) choose_fewest(o, problem, pool, report);
  if (!report.best) choose_among(o, problem, pool, report);
  if (report.candidates.empty())
    throw Error(ErrorKind::kConfig,
                "[plan] no legal grid has " + cores_text(o, problem) +
                    " cores; grids are powers of two per axis, times replicas that divide the batch of " +
                    std::to_string(o.extents[0]));
  progress.update("plan", static_cast<std::int64_t>(report.candidates.size()),
                  static_cast<std::int64_t>(report.candidates.size()), "candidates");
  if (!report.best) refuse(o, problem, report.candidates, pool);
  describe(o, problem, report);
  report.planning_s = watch.seconds();
  return report;
}

ModelSpec with_plan(ModelSpec spec, const Candidate& candidate) {
  spec.cut = candidate.cut;
  return spec;
}

nlohmann::ordered_json to_json(const PlanReport& report, bool all) {
  const Price& busy = report.price.busy;
  nlohmann::ordered_json json = {
      {"device", report.device},
      {"clock", report.emulated ? "emulated" : "wall"},
      {"planning_seconds", report.planning_s},
      {"candidates_priced", std::count_if(report.candidates.begin(), report.candidates.end(),
                                          [](const Candidate& c) { return c.verdict != Verdict::kNotNeeded; })},
      {"chosen", to_json(report.chosen())},
      {"time",
       {{"step_seconds", report.price.step_s},
        {"device_seconds", report.price.device_s},
        {"feed_seconds", report.price.feed_s},
        {"matrix_seconds", busy.matrix_s},
        {"vector_seconds", busy.vector_s},
        {"memory_seconds", busy.memory_s},
        {"link_seconds", busy.link_s},
        {"pass_seconds", busy.pass_s},
        {"overhead_seconds", busy.overhead_s}}},
      {"memory", memory_json(report)}};
  if (all) {
    auto& list = json["candidates"] = nlohmann::ordered_json::array();
    for (const Candidate& c : report.candidates) list.push_back(to_json(c));
  }
  return json;
}

}  // namespace voxshard
