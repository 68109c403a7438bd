#include "libcore/planner/budget.h"

#include <algorithm>
#include <cmath>

#include "libcore/base/budget_value.h"
#include "libcore/base/text.h"

namespace voxshard {
namespace {

constexpr char kTable[] = "\nLargest allocations of that core:";

constexpr std::int64_t kMostCores = 128;  // the largest slice of the original system that spatial partitioning ran on

/// Returns N and the spatial extents of the sample.
Shape extents_of(const Graph& graph) {
  const Shape& image = graph.node(image_of(graph)).type.shape;
  Shape extents;
  for (int a = 0; a + 1 < image.axes(); ++a) extents.push_back(image[a]);
  return extents;
}

/// A plan that is checked against the budget, with kernels bound or not.
struct Plan {
  const Program& program;
  const MemoryPlan& memory;
  const Footprint& bytes;
  bool has_kernels = false;

  const char* needs() const { return has_kernels ? "needs " : "needs more than "; }
  const char* at_least() const { return has_kernels ? "" : "at least "; }
};

std::string over_core_text(const Budget& budget, const Plan& plan, const Graph& graph, const OpTable& ops,
                           const Target& target) {
  const std::size_t core = plan.bytes.widest();
  const std::int64_t bytes = plan.bytes.core(core);
  std::string text = std::string("[memory] the plan ") + plan.needs() + bytes_text(bytes) + " per core (" +
                     std::to_string(bytes) + " bytes, core " + std::to_string(core) + " of partition " +
                     to_string(plan.program.mesh().partition) + " on " + to_string(extents_of(graph)) +
                     "), the budget is " + bytes_text(budget.core_bytes) + "; nothing was allocated. ";
  const auto fits = partition_that_fits(budget.core_bytes, graph, ops, plan.program.cut, target);
  text += fits ? "A partition that fits: " + to_string(*fits)
               : "No partition up to " + std::to_string(kMostCores) + " cores fits: give {memory} " + plan.at_least() +
                     budget_value(bytes) + ", a smaller size or fewer base filters";
  return text + kTable + allocations_text(largest_allocations(plan.program, plan.memory, core, 5));
}

/// Returns the sample's size, reduced on all spatial axes so that the plan would take about `share` of its bytes; empty
/// when an axis would vanish. Sizes are multiples of 16, which every model accepts.
std::string size_of_share(const Graph& graph, double share) {
  constexpr double kMultiple = 16;
  const Shape extents = extents_of(graph);
  const double each = std::pow(share, 1.0 / (extents.axes() - 1));
  Dims size;
  for (int a = 1; a < extents.axes(); ++a) {
    const double smaller = std::floor(static_cast<double>(extents[a]) * each / kMultiple) * kMultiple;
    if (smaller < kMultiple) return {};
    size.push_back(static_cast<std::int64_t>(smaller));
  }
  return to_string(size);
}

std::string over_process_text(const Budget& budget, const Plan& plan, const Graph& graph) {
  const std::int64_t bytes = plan.bytes.process();
  const std::string size = size_of_share(
      graph, static_cast<double>(budget.process_bytes) / static_cast<double>(std::max<std::int64_t>(1, bytes)));
  return std::string("[memory] the plan of all cores together ") + plan.needs() + bytes_text(bytes) + " (" +
         std::to_string(bytes) + " bytes) in this process for " + to_string(extents_of(graph)) + ", the budget is " +
         bytes_text(budget.process_bytes) + (budget.of_machine ? ", what this machine has free" : "") +
         "; nothing was allocated. Recompute more ({recompute} upsampling), or let {partition} auto choose" +
         (size.empty() ? "; or give fewer base filters" : "; about " + size + " would fit") +
         (budget.of_machine || budget.caller_names
              ? ""
              : std::string("; or raise {host-memory} ") + (plan.has_kernels ? "to " : "above ") +
                    budget_value(budget.held_bytes + bytes));
}

void require_within(const Budget& budget, const Plan& plan, const Graph& graph, const OpTable& ops,
                    const Target& target) {
  if (budget.core_bytes > 0 && plan.bytes.widest_core() > budget.core_bytes)
    throw Error(ErrorKind::kBudget, over_core_text(budget, plan, graph, ops, target));
  if (budget.process_bytes > 0 && plan.bytes.process() > budget.process_bytes)
    throw Error(ErrorKind::kBudget, over_process_text(budget, plan, graph));
}

bool is_within(const Budget& budget, const Footprint& bytes) {
  return (budget.core_bytes <= 0 || bytes.widest_core() <= budget.core_bytes) &&
         (budget.process_bytes <= 0 || bytes.process() <= budget.process_bytes);
}

Plan plan_of(const Lowered& lowered) { return {lowered.program, lowered.memory, lowered.bytes}; }

/// True beyond twice the budget: such a plan is refused before kernels are bound. They would only change the number in
/// the message, take time to bind, and may not support such sizes.
bool is_far_over(const Budget& budget, const Footprint& bytes) {
  return (budget.core_bytes > 0 && bytes.widest_core() / 2 > budget.core_bytes) ||
         (budget.process_bytes > 0 && bytes.process() / 2 > budget.process_bytes);
}

/// The budget of the cores beside the sample and so many bytes for each of its elements.
Budget beside_sample(Budget budget, const Graph& graph, std::int64_t beside_bytes) {
  if (!budget.holds_sample) return budget;
  const std::int64_t sample =
      (kImageElementBytes + beside_bytes) * element_count(graph.node(image_of(graph)).type.shape);
  if (budget.process_bytes > 0) budget.process_bytes = std::max<std::int64_t>(1, budget.process_bytes - sample);
  return budget;
}

/// Halves the parts of one axis of the sample: the longest that stay above kThinnest voxels, the innermost axis last,
/// since a cut there puts a margin into every row. Returns false when no axis can be halved.
bool halve(Mesh& mesh, const Shape& extents) {
  constexpr std::int64_t kThinnest = 8;
  const int innermost = extents.axes() - 1;
  int longest = -1;
  for (int axis = 1; axis <= innermost; ++axis) {
    if (extents[axis] < 2 * kThinnest * mesh.partition[axis]) continue;
    if (axis == innermost && longest >= 0) continue;
    if (longest < 0 || extents[axis] * mesh.partition[longest] > extents[longest] * mesh.partition[axis])
      longest = axis;
  }
  if (longest >= 0) mesh.partition[longest] *= 2;
  return longest >= 0;
}

}  // namespace

void require_within(const Budget& budget, const Graph& graph, const OpTable& ops, const Cut& cut,
                    const Target& target) {
  require_within(budget, plan_of(lower_verified(graph, ops, cut, target)), graph, ops, target);
}

std::string without_allocations(const std::string& refusal) { return refusal.substr(0, refusal.find(kTable)); }

Error advising(const Error& refusal, const std::string& advice) {
  std::string text = refusal.what();
  text.insert(std::min(text.find(kTable), text.size()), advice);
  return {refusal.kind(), refusal.code(), text};
}

Error naming_host_memory(const Error& refusal, std::int64_t bytes) {
  return advising(refusal, "; or raise {host-memory} to " + budget_value(bytes));
}

std::optional<Executable> lower_in_turns(Budget budget, const Graph& graph, const OpTable& ops, Cut cut,
                                         Target target) {
  constexpr std::int64_t kMostTurns = 256;  // beyond it planning takes longer than what it saves
  const Shape extents = extents_of(graph);
  budget = beside_sample(budget, graph, budget.beside.in_turns);
  if (budget.process_bytes > 0) budget.process_bytes = std::max<std::int64_t>(1, budget.process_bytes / 2);
  target.takes_turns = true;
  while (true) {
    Lowered lowered = lower_verified(graph, ops, cut, target);
    if (is_within(budget, lowered.bytes)) {
      Executable e = make_verified(std::move(lowered), ops, target);
      if (is_within(budget, e.bytes)) return e;
    }
    Mesh finer = cut.mesh;
    if (finer.cores() * 2 > kMostTurns || !halve(finer, extents)) return std::nullopt;
    cut = cut.over(finer);
  }
}

Executable lower_within(const Budget& budget, const Graph& graph, const OpTable& ops, const Cut& cut,
                        const Target& target) {
  Lowered lowered = lower_verified(graph, ops, cut, target);
  std::optional<Executable> e;
  if (!is_far_over(budget, lowered.bytes)) {
    e = make_verified(std::move(lowered), ops, target);
    const Budget staying = budget.may_take_turns ? beside_sample(budget, graph, budget.beside.staying) : budget;
    if (is_within(staying, e->bytes)) return std::move(*e);
  }
  const Footprint& all = e ? e->bytes : lowered.bytes;
  if (budget.may_take_turns && (budget.core_bytes <= 0 || all.widest_core() <= budget.core_bytes))
    if (auto turns = lower_in_turns(budget, graph, ops, cut, target)) return std::move(*turns);
  if (!e) require_within(budget, plan_of(lowered), graph, ops, target);
  require_within(budget, Plan{e->program, e->memory, e->bytes, true}, graph, ops, target);
  return std::move(*e);  // beside the sample it is over the budget, which the task will say
}

std::optional<Dims> partition_that_fits(std::int64_t core_bytes, const Graph& graph, const OpTable& ops, const Cut& cut,
                                        const Target& target) {
  const Shape extents = extents_of(graph);
  Mesh mesh = cut.mesh;
  while (mesh.cores() * 2 <= kMostCores) {
    int widest = -1;
    for (int axis = 1; axis < extents.axes(); ++axis)
      if (mesh.partition[axis] * 2 <= extents[axis] &&
          (widest < 0 || extents[axis] * mesh.partition[widest] > extents[widest] * mesh.partition[axis]))
        widest = axis;
    if (widest < 0) return std::nullopt;
    mesh.partition[widest] *= 2;
    Lowered lowered = lower_verified(graph, ops, cut.over(mesh), target);
    if (lowered.bytes.widest_core() > core_bytes) continue;  // too large even without the bytes of kernels
    if (make_executable(std::move(lowered), ops, target).bytes.widest_core() <= core_bytes) return mesh.partition;
  }
  return std::nullopt;
}

ValueId image_of(const Graph& graph) {
  ValueId image = kNoValue;
  for (ValueId id = 0; id < graph.size(); ++id) {
    const Node& node = graph.node(id);
    if (node.role == Role::kInput &&
        (image == kNoValue || element_count(node.type.shape) > element_count(graph.node(image).type.shape)))
      image = id;
  }
  if (image == kNoValue) throw Error(ErrorKind::kConfig, "[plan] the model has no input that could be cut");
  return image;
}

std::string allocations_text(const std::vector<Allocation>& allocations) {
  std::string text;
  for (const Allocation& a : allocations)
    text += "\n  " + bytes_text(a.bytes) + "  " + a.layer + "  " + std::string(dtype_name(a.type.dtype)) + "[" +
            to_string(a.box.extent) + "]  unpadded " + bytes_text(a.unpadded_bytes);
  return text;
}

}  // namespace voxshard
