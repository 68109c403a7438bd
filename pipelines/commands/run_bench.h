// `voxshard bench`: how long a training step takes on random data and where the time goes; or each convolution alone.
#pragma once

#include <nlohmann/json.hpp>

#include "libcore/train/optimizer.h"
#include "pipelines/model_runs/model_spec.h"
#include "pipelines/model_runs/process_plan.h"
#include "pipelines/model_runs/report.h"
#include "pipelines/profile/rank_bench.h"
#include "pipelines/profile/trace_json.h"

namespace voxshard {

struct BenchOptions {
  ModelSpec spec;
  Shape extents;  // N and the spatial axes
  int steps = 3;  // timed, after those that are not
  int warmup = 1;
  int threads = 1;
  std::int64_t core_budget_bytes = 0;
  std::int64_t host_budget_bytes = 0;    // of all cores together; 0: what the machine has free
  std::shared_ptr<const Device> host;    // this machine as measured; then the step's time is predicted too
  TraceOptions trace;                    // of the first timed steps
  std::shared_ptr<const Device> device;  // an emulated one, whose clock is asked too
  bool overlap = true;                   // false: what is computed waits for every exchange (CoreSet::set_overlap)
  Transport* transport = nullptr;        // to the other ranks; null: all cores are in this process
};

/// What a step is updated by.
inline const OptimizerOptions kBenchOptimizer = {.kind = OptimizerKind::kSgd, .learning_rate = 1e-3};

struct TimedInstruction {
  std::string layer, op;
  double worker_seconds = 0;  // of one step, summed over the workers
  double flops = 0;
  // Of convolutions:
  std::string kernel, code;  // chosen from the table; the library's name of what runs
  std::int64_t workspace_bytes = 0, packed_bytes = 0;
  double pack_seconds = 0;  // all workers together; only measured alone
};

struct BenchReport {
  std::vector<double> step_seconds;
  double step_flops = 0;  // multiply-adds count two
  std::vector<TimedInstruction> instructions;
  std::int64_t planned_bytes = 0;          // arenas, process pool, workspaces
  std::int64_t resident_before_bytes = 0;  // the process before it allocated what is planned
  std::int64_t peak_resident_bytes = 0;
  ProcessReport memory;  // the two together: the whole process
  bool native_bf16 = false;
  double loss = 0;                          // of the last step
  std::optional<double> predicted_seconds;  // of a step, by the measured host
  std::optional<double> emulated_seconds;   // of a step, by the clock of the device
  std::vector<RankBench> ranks;  // of several, on rank 0; worker_seconds of instructions are then of all of them
  bool overlap = true;
  nlohmann::ordered_json model;  // how it was cut
};

/// Whole training steps: forward, loss, backward, update by SGD with momentum.
BenchReport run_bench_step(const BenchOptions& options, Progress& progress);
/// The same step, then each convolution instruction alone, `steps` times, its packing before it; step_seconds holds the
/// sums of both.
BenchReport run_bench_kernels(const BenchOptions& options, Progress& progress);

nlohmann::ordered_json to_json(const BenchReport& report);

}  // namespace voxshard
