#include "pipelines/emulation/tpu_fit.h"

#include <algorithm>
#include <cmath>

#include "libcore/device/tpu/feed_price.h"
#include "libcore/device/tpu/fusion.h"
#include "libcore/graph/recompute.h"
#include "libcore/ops/op_table.h"
#include "pipelines/tasks/table/task_table.h"

namespace voxshard {
namespace {

Lowered lowered(Graph step, Cut cut, OptimizerKind optimizer, Recompute recompute) {
  cut.recompute = recompute;
  return lower_to_memory(std::move(step), op_table(), cut,
                         {.tiled = true, .optimizer_slots = Optimizer::slots({.kind = optimizer})});
}

/// Returns, per value, true when it is fused into all its readers.
std::vector<bool> fused_values(const TpuSpec& device, const Program& program) {
  const Fusions fusions(device, program, op_table());
  std::vector<bool> fused;
  for (ValueId id = 0; id < program.graph.size(); ++id) fused.push_back(fusions.fused(id));
  return fused;
}

/// A constant that can be refitted.
struct Constant {
  const char* key;
  double scale;      // the figure's unit -> the spec's
  double low, high;  // in the figure's unit
  double (*get)(const TpuSpec&);
  void (*set)(TpuSpec&, double);
};
constexpr Constant kConstants[] = {
    {"core.strip_rows", 1, 8, 65536, [](const TpuSpec& d) { return static_cast<double>(d.strip_rows); },
     [](TpuSpec& d, double v) { d.strip_rows = std::llround(v); }},
    {"core.pass_rate", 1e9, 1, 10000, [](const TpuSpec& d) { return d.pass_bytes_s; },
     [](TpuSpec& d, double v) { d.pass_bytes_s = v; }},
};

const Constant* constant_of(const std::string& key) {
  for (const Constant& constant : kConstants)
    if (key == constant.key) return &constant;
  return nullptr;
}

}  // namespace

TpuStep lower_for_tpu(const Graph& graph, const Cut& cut, OptimizerKind optimizer, const TpuSpec& device) {
  const Graph step = step_graph(graph, op_table(), Recompute::kNone);
  const Lowered kept = lowered(step, cut, optimizer, Recompute::kNone);
  return {
      .lowered = lowered(with_made_again(step, fused_values(device, kept.program)), cut, optimizer, Recompute::kNone),
      .kept_core_bytes = kept.bytes.widest_core()};
}

PlannedStep plan_step(const PublishedStep& row, const TpuSpec& device) {
  const Graph graph = build_graph(row.spec, row.extents, Phase::kTrain, row.spec.precision);
  PlannedStep planned{.name = row.name, .published_seconds = row.seconds};
  planned.feed = feed_of(graph, task_of(task_table(), row.spec).records());
  TpuStep step = lower_for_tpu(graph, row.spec.cut, row.optimizer, device);
  planned.kept_core_bytes = step.kept_core_bytes;
  Lowered least = std::move(step.lowered);
  for (Recompute recompute : kRecomputeChoices) {
    if (least.bytes.widest_core() <= device.usable_bytes() || recompute == Recompute::kNone) continue;
    least = lowered(step_graph(graph, op_table(), recompute), row.spec.cut, row.optimizer, recompute);
    planned.recompute = recompute;
  }
  planned.core_bytes = least.bytes.widest_core();
  planned.program = std::move(least.program);
  return planned;
}

StepPrice price_of(const PlannedStep& step, const TpuSpec& device) {
  return TpuDevice(device).price(step.program, op_table(), step.feed);
}

TpuSpec refit(const TpuSpec& device, const Figure& figure, const std::vector<PlannedStep>& steps,
              const std::string& left_out) {
  const Constant* constant = constant_of(figure.key);
  std::vector<const PlannedStep*> rows;
  for (const PlannedStep& step : steps)
    if (step.name != left_out &&
        std::find(figure.fitted_to.begin(), figure.fitted_to.end(), step.name) != figure.fitted_to.end())
      rows.push_back(&step);
  if (constant == nullptr || rows.empty()) return device;
  TpuSpec fitted = device;
  const auto excess = [&](double log_value) {  // sum of log(emulated / published); decreases in the constant
    constant->set(fitted, std::exp(log_value) * constant->scale);
    double sum = 0;
    for (const PlannedStep* row : rows) sum += std::log(price_of(*row, fitted).step_s / row->published_seconds);
    return sum;
  };
  double low = std::log(constant->low), high = std::log(constant->high);
  constexpr int kHalvings = 16;  // an interval of 9 in the natural logarithm over 2^16: precise to about 1e-4
  for (int i = 0; i < kHalvings; ++i) {
    const double middle = (low + high) / 2;
    (excess(middle) > 0 ? low : high) = middle;
  }
  constant->set(fitted, std::exp((low + high) / 2) * constant->scale);
  return fitted;
}

TpuSpec refit_all(const TpuSpec& device, const std::vector<PlannedStep>& steps) {
  TpuSpec fitted = device;
  for (const Figure& figure : device.figures)
    if (figure.kind == "fitted") fitted = refit(fitted, figure, steps, "");
  return fitted;
}

double least_unpack_bytes_s(const PlannedStep& step, const TpuSpec& device) {
  const Placement placement{.replicas = step.program.mesh().replicas,
                            .cores_per_replica = step.program.mesh().cores_per_replica()};
  return host_load(Torus(device, placement), placement, step.feed).record_bytes / price_of(step, device).device_s;
}

double value_of(const TpuSpec& device, const Figure& figure) {
  const Constant* constant = constant_of(figure.key);
  return constant == nullptr ? figure.value : constant->get(device) / constant->scale;
}

}  // namespace voxshard
