#include "pipelines/profile/measure_engine.h"

#include <algorithm>
#include <functional>

#include "libcore/base/stopwatch.h"
#include "libcore/graph/builder.h"
#include "libcore/ops/op_table.h"
#include "libcore/runtime/core_set.h"
#include "libcore/train/optimizer.h"

namespace voxshard {
namespace {

/// Returns the lower quartile of `repeats` runs, which estimates the time on an idle machine.
double quartile_seconds(int repeats, const std::function<void()>& body) {
  body();
  std::vector<double> seconds;
  for (int i = 0; i < repeats; ++i) {
    const Stopwatch watch;
    body();
    seconds.push_back(watch.seconds());
  }
  std::sort(seconds.begin(), seconds.end());
  return seconds[seconds.size() / 4];
}

/// A core set without parameters on inputs of zeros.
struct SmallSet {
  Executable executable;
  Parameters parameters;
  InProcessTransport transport;
  CoreSet cores;

  SmallSet(const Graph& graph, const Mesh& mesh, WorkerPool& pool)
      : executable(lower(graph, op_table(), {.mesh = mesh}, {})),
        cores(executable, op_table(), parameters, pool, transport) {
    for (ValueId id = 0; id < executable.program.graph.size(); ++id)
      if (executable.program.graph.node(id).role == Role::kInput)
        cores.feed(id, [](const TensorView& box) { fill_zero(box); });
  }
};

/// Measures the time per task with a chain of one-element ops over many cores: one segment that consists of tasks only.
double task_seconds(WorkerPool& pool, double barrier_s) {
  constexpr std::int64_t kCores = 64;
  constexpr int kOps = 16;
  Graph graph;
  Builder b(graph, op_table());
  ValueId x = b.input("x", {DType::kF32, {1, kCores, 1, 1, 1}});
  for (int i = 0; i < kOps; ++i) x = b.op("leaky_relu", {x}, ActivationAttrs{.slope = 0}, "y" + std::to_string(i));
  graph.outputs["y"] = x;
  SmallSet set(graph, {.partition = {1, kCores, 1, 1, 1}}, pool);
  const double seconds = quartile_seconds(40, [&] { set.cores.run(); });
  // The prologue is empty but wakes the workers too. The tasks are shared among the workers, hence the last factor.
  return std::max(1e-8, (seconds - 2 * barrier_s) / (kCores * kOps) * pool.workers());
}

/// Returns the seconds of the only join of a graph.
double join_seconds(const Graph& graph, std::int64_t cores, WorkerPool& pool) {
  SmallSet set(graph, {.partition = {1, cores, 1, 1, 1}}, pool);
  set.cores.run();
  const auto& instructions = set.executable.program.instructions;
  for (std::size_t i = 0; i < instructions.size(); ++i)
    if (instructions[i].kind == InstructionKind::kJoin)
      return quartile_seconds(20, [&] { set.cores.run_instruction(i); });
  throw Error(ErrorKind::kInternal, "[internal] broken invariant: a cut contraction is joined");
}

constexpr std::int64_t kJoinCores = 8;

/// Measures joins of weight gradients: one task of 65536 elements per worker (schedule.h).
double f32_join_rate(WorkerPool& pool, double barrier_s) {
  const Shape x = {1, kJoinCores, 2, 2, 256}, y = {1, kJoinCores, 2, 2, 256 * pool.workers()};
  Graph graph;
  Builder b(graph, op_table());
  const ValueId from = b.input("x", {DType::kF32, x}), to = b.input("y", {DType::kF32, y});
  const Window window{{1, 1, 1}, {1, 1, 1}, {1, 1, 1}, {0, 0, 0}, {0, 0, 0}};
  graph.outputs["w"] = b.op("conv_weight_grad", {from, to}, ConvWeightGradAttrs{window}, "w");
  const double elements = 256.0 * 256.0 * kJoinCores;  // per worker
  return elements / std::max(1e-7, join_seconds(graph, kJoinCores, pool) - barrier_s);
}

/// Measures joins of statistics: one task.
double f64_join_rate(WorkerPool& pool, double barrier_s) {
  constexpr std::int64_t kChannels = 512;
  Graph graph;
  Builder b(graph, op_table());
  const ValueId x = b.input("x", {DType::kF32, {1, kJoinCores, 2, 2, kChannels}});
  graph.outputs["sums"] = b.op("moment_sums", {x}, NormAttrs{.count = 4 * kJoinCores}, "sums");
  return 2.0 * kChannels * kJoinCores / std::max(1e-7, join_seconds(graph, kJoinCores, pool) - barrier_s);
}

double feed_rate(WorkerPool& pool, double barrier_s) {
  const std::int64_t cores = pool.workers();
  Graph graph;
  Builder b(graph, op_table());
  const ValueId x = b.input("x", {DType::kF32, {1, 16 * cores, 64, 64, 1}});
  graph.outputs["y"] = b.op("leaky_relu", {x}, ActivationAttrs{.slope = 0}, "y");
  SmallSet set(graph, {.partition = {1, cores, 1, 1, 1}}, pool);
  const Tensor sample(DType::kF32, {1, 16 * cores, 64, 64, 1});
  const double seconds =
      quartile_seconds(20, [&] { set.cores.feed(x, [&](const TensorView& box) { copy(sample.view(), box); }); });
  return static_cast<double>(sample.bytes()) / std::max(1e-7, seconds - barrier_s) / pool.workers();
}

/// Measures SGD with momentum and the norm of all gradients, as in a training step.
double update_rate(WorkerPool& pool, double barrier_s) {
  const Shape shape = {512 * pool.workers(), 1024};
  Graph graph;
  Builder(graph, op_table()).parameter("w/kernel", {DType::kF32, shape});
  Optimizer optimizer({.kind = OptimizerKind::kSgd}, graph);
  Parameters parameters;
  parameters.emplace("w/kernel", Tensor(DType::kF32, shape));
  const Tensor gradient(DType::kF32, shape);
  const Gradients gradients = {{"w/kernel", gradient.view()}};
  const double seconds = quartile_seconds(
      12, [&] { optimizer.update(pool, parameters, gradients, Optimizer::global_norm(pool, gradients), 0, 1); });
  return static_cast<double>(gradient.count()) / std::max(1e-7, seconds - 2 * barrier_s) / pool.workers();
}

RateTable single(const char* work, DType type, const char* unit, double value, const char* how) {
  return {.op = work, .stored = type, .unit = unit, .how = how, .values = {value}};
}

}  // namespace

void measure_engine(WorkerPool& pool, HostRates& rates) {
  rates.barrier_s = std::max(1e-8, quartile_seconds(400, [&] { pool.run_on_all([](int) {}); }));
  rates.task_s = task_seconds(pool, rates.barrier_s);
  const char* how = "a small core set, wall time per worker, lower quartile";
  rates.tables.push_back(single("join", DType::kF32, "element/s", f32_join_rate(pool, rates.barrier_s), how));
  rates.tables.push_back(single("join", DType::kF64, "element/s", f64_join_rate(pool, rates.barrier_s), how));
  rates.tables.push_back(single("feed", DType::kF32, "byte/s", feed_rate(pool, rates.barrier_s), how));
  rates.tables.push_back(single("update", DType::kF32, "element/s", update_rate(pool, rates.barrier_s), how));
}

}  // namespace voxshard
