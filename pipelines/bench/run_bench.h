// `voxshard bench`: times a training step on random data, instruction by instruction; or each convolution alone.
#pragma once

#include <nlohmann/json.hpp>

#include "libcore/train/optimizer.h"
#include "pipelines/engine/run_context.h"
#include "pipelines/model_runs/model_spec.h"
#include "pipelines/model_runs/process_plan.h"
#include "pipelines/model_runs/report.h"
#include "pipelines/profile/rank_bench.h"
#include "pipelines/profile/trace_json.h"

namespace voxshard {

struct BenchOptions {
  ModelSpec spec;
  Shape extents;  // N and the spatial axes
  int steps = 3;  // timed steps, after the warm-up
  int warmup = 1;
  std::shared_ptr<const Device> host;    // this machine as measured, to predict the time of a step; may be null
  TraceOptions trace;                    // of the first timed steps
  std::shared_ptr<const Device> device;  // an emulated device, to report its time of a step too; may be null
  bool overlap = true;                   // false: computation waits for every exchange (CoreSet::set_overlap)
};

/// The optimizer of the benchmark step.
inline const OptimizerOptions kBenchOptimizer = {.kind = OptimizerKind::kSgd, .learning_rate = 1e-3};

struct TimedInstruction {
  std::string layer, op;
  double worker_seconds = 0;  // of one step, summed over the workers
  double flops = 0;
  // For convolutions only:
  std::string kernel, code;  // chosen from the table; the library's name of the implementation
  std::int64_t workspace_bytes = 0, packed_bytes = 0;
  double pack_seconds = 0;  // all workers together; measured by run_bench_kernels() only
};

struct BenchReport {
  std::vector<double> step_seconds;
  double step_flops = 0;  // multiply-adds count two
  std::vector<TimedInstruction> instructions;
  std::int64_t planned_bytes = 0;          // arenas, process pool, workspaces
  std::int64_t resident_before_bytes = 0;  // of the process before it allocated the plan
  std::int64_t peak_resident_bytes = 0;
  ProcessReport memory;  // memory of the whole process, planned and measured
  bool native_bf16 = false;
  double loss = 0;                          // of the last step
  std::optional<double> predicted_seconds;  // of a step, by the measured host
  std::optional<double> emulated_seconds;   // of a step, by the clock of the device
  // with several ranks, on rank 0; worker_seconds of instructions are then summed over all ranks
  std::vector<RankBench> ranks;
  bool overlap = true;
  nlohmann::ordered_json model;  // the model and its cut
};

/// Times whole training steps: forward, loss, backward, update by SGD with momentum.
BenchReport run_bench_step(const BenchOptions& options, const RunContext& context);
/// Runs the same step, then times each convolution instruction alone, `steps` times, with its packing before it;
/// step_seconds holds the sums of both.
BenchReport run_bench_kernels(const BenchOptions& options, const RunContext& context);

nlohmann::ordered_json to_json(const BenchReport& report);

}  // namespace voxshard
