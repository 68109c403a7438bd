#include "pipelines/bench/run_bench.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "io/system/process_memory.h"
#include "libcore/base/rng.h"
#include "libcore/base/stopwatch.h"
#include "libcore/kernels/conv.h"
#include "libcore/ops/op_table.h"
#include "libcore/train/initialise.h"
#include "libcore/train/trainer.h"
#include "pipelines/tasks/table/task_table.h"

namespace voxshard {
namespace {

double median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return values.empty() ? 0 : values[values.size() / 2];
}

/// Returns the flops of one compute instruction over all cores.
double flops_of(const Program& program, const Instruction& instruction) {
  const Node& node = program.graph.node(instruction.value);
  const OpDef& def = op_table().at(node.op);
  const auto types = program.graph.input_types(instruction.value);
  double flops = 0;
  for (const auto& blocks : instruction.blocks)
    for (const Box& block : blocks) flops += work_of(def, {node.attrs, types, node.type}, block).flops;
  return flops;
}

bool is_convolution(const std::string& op) { return op.starts_with("conv") && op != "convert"; }

/// Returns the predicted seconds; nullopt, without ending the benchmark, when the device has no such slice or was not
/// measured for all ops of the program.
std::optional<double> priced_seconds(const Program& program, const Device& device, const Feed& feed,
                                     Progress& progress) {
  try {
    return device.price(program, op_table(), feed).step_s;
  } catch (const Error& e) {
    if (e.kind() != ErrorKind::kConfig) throw;
    progress.log("no prediction for " + (device.emulated() ? device.name() : "this machine") + ": " + e.what());
    return std::nullopt;
  }
}

/// Notes the peak memory at the end and warns when the process took more than the budget of all cores together.
void note_peak(BenchReport& report, Progress& progress) {
  report.peak_resident_bytes = report.memory.peak_resident_bytes = peak_resident_bytes();
  if (const auto text = report.memory.warning()) progress.warn(*text);
}

/// A session with random weights and a feed of random data.
struct Bench {
  Session session;
  BenchReport report;

  Bench(const BenchOptions& o, const RunContext& context)
      : session(op_table(),
                lowering_of(o.spec, context.step_budget(),
                            {.optimizer_slots = Optimizer::slots(kBenchOptimizer),
                             .workers = context.threads(),
                             .ranks = context.transport().place()}),
                context.pool(), &context.transport()) {
    report.resident_before_bytes = resident_bytes();
    const Executable& executable = session.plan(o.extents, Phase::kTrain);
    report.planned_bytes = executable.bytes.process();
    report.memory.plan = base_plan(report.resident_before_bytes) + plan_of(executable.bytes) +
                         ProcessPlan{{MemoryPart::kPlans, kept_bytes(executable)}};
    report.memory.plan +=
        libraries_plan(resident_bytes(), base_plan(report.resident_before_bytes) +
                                             ProcessPlan{{MemoryPart::kPlans, kept_bytes(executable)}});
    report.memory.budget_bytes = context.resources().host_budget_bytes;
    report.native_bf16 = cpu_has_native_bf16();
    report.model = to_json(o.spec);
    session.parameters() = initialise(executable.program.graph, 1);
    for (const Instruction& instruction : executable.program.instructions) {
      const Node& node = executable.program.graph.node(instruction.value);
      const bool compute = instruction.kind == InstructionKind::kCompute;
      const char* name = instruction.kind == InstructionKind::kJoin         ? "all_reduce"
                         : instruction.kind == InstructionKind::kExchange   ? "exchange"
                         : instruction.kind == InstructionKind::kFillMargin ? "fill_margin"
                         : instruction.kind == InstructionKind::kPack       ? "pack"
                                                                            : node.op.c_str();
      report.instructions.push_back({node.name, name, 0, compute ? flops_of(executable.program, instruction) : 0});
      if (compute && is_convolution(node.op)) describe(executable, instruction.value, report.instructions.back());
    }
  }

  static void describe(const Executable& executable, ValueId id, TimedInstruction& timed) {
    const HostKernels::Bound& bound = executable.kernels.by_value[id];
    timed.kernel = kConvKernelNames[static_cast<std::size_t>(kernel_of(executable.program.graph.node(id).attrs))];
    timed.code = bound.kernel->code();
    timed.workspace_bytes = bound.workspace_bytes;
    timed.packed_bytes = bound.kernel->packed_bytes();
  }

  static void feed(const Node& input, const TensorView& box) {
    Tensor values(box.dtype, box.extent());
    TensorView view = values.view();
    view.box = box.box;
    for (std::int64_t i = 0; i < values.count(); ++i)
      store(view, i,
            is_float(box.dtype) ? 2 * rng_uniform({0, rng_stream(input.name)}, static_cast<std::uint64_t>(i)) - 1
                                : static_cast<double>(i / 97 % 2));
    copy(view, box);
  }
};

}  // namespace

BenchReport run_bench_step(const BenchOptions& options, const RunContext& context) {
  Progress& progress = context.progress();
  const bool alone = context.transport().ranks() == 1;
  if (context.writes()) require_output_file(options.trace.file, profile_file(), {.option = "{trace}"});
  Bench bench(options, context);
  BenchReport& report = bench.report;
  const Program& program = bench.session.plan(options.extents, Phase::kTrain).program;
  const Feed feed = feed_of(program.graph, task_of(task_table(), options.spec).records());
  if (options.host && alone) report.predicted_seconds = priced_seconds(program, *options.host, feed, progress);
  if (options.device && options.device->emulated())
    report.emulated_seconds = priced_seconds(program, *options.device, feed, progress);
  TraceFile trace(options.trace, context.threads(), &context.transport());
  trace.price(program, op_table(), feed);
  Trainer trainer(bench.session, kBenchOptimizer, program.graph, 0);
  CoreSet& cores = bench.session.cores(options.extents, Phase::kTrain);
  cores.set_trace(trace.recorder());
  cores.set_overlap(report.overlap = options.overlap);
  const int all = options.warmup + options.steps;
  InstructionCounts before = counts_of(cores);
  progress.update("bench step", 0, all, "");
  for (int step = 0; step < all; ++step) {
    if (step >= options.warmup) trace.begin_step(program);
    const Stopwatch watch;
    report.loss = trainer.step(options.extents, Bench::feed).loss;
    if (step >= options.warmup)
      report.step_seconds.push_back(watch.seconds());
    else
      before = counts_of(cores);
    trace.end_step();
    progress.update("bench step", step + 1, all, "");
  }
  note_peak(report, progress);
  RankBench own{.step_seconds = median(report.step_seconds), .memory = to_json(report.memory)};
  own.instructions = counts_of_step(before, counts_of(cores), options.steps);
  for (std::size_t i = 0; i < report.instructions.size(); ++i) {
    report.instructions[i].worker_seconds = own.instructions.worker_seconds[i];
    if (is_convolution(report.instructions[i].op)) report.step_flops += report.instructions[i].flops;
  }
  trace.write();
  if (alone) return report;
  report.ranks = gather_ranks(context.transport(), std::move(own), cores.executable());
  for (std::size_t i = 0; i < report.instructions.size() && !report.ranks.empty(); ++i) {
    report.instructions[i].worker_seconds = 0;
    for (const RankBench& rank : report.ranks)
      report.instructions[i].worker_seconds += rank.instructions.worker_seconds[i];
  }
  return report;
}

BenchReport run_bench_kernels(const BenchOptions& options, const RunContext& context) {
  Progress& progress = context.progress();
  Bench bench(options, context);
  BenchReport& report = bench.report;
  CoreSet& cores = bench.session.cores(options.extents, Phase::kTrain);
  feed_all(cores, Bench::feed);
  cores.run();
  std::vector<TimedInstruction> kept;
  std::vector<std::size_t> index;
  for (std::size_t i = 0; i < report.instructions.size(); ++i) {
    if (!is_convolution(report.instructions[i].op)) continue;
    index.push_back(i);
    kept.push_back(report.instructions[i]);
    report.step_flops += kept.back().flops;
  }
  report.step_seconds.assign(static_cast<std::size_t>(options.steps), 0.0);
  for (std::size_t k = 0; k < index.size(); ++k) {
    std::vector<double> times, packs;
    auto timed = [&](std::size_t instruction, int step) {
      const Stopwatch watch;
      cores.run_instruction(instruction);
      report.step_seconds[step] += watch.seconds();
      return watch.seconds();
    };
    for (int step = 0; step < options.steps; ++step) {
      if (kept[k].packed_bytes > 0)
        packs.push_back(timed(index[k] - 1, step));  // the memory of its weights was overwritten in between
      times.push_back(timed(index[k], step));
    }
    kept[k].worker_seconds = median(times);
    kept[k].pack_seconds = median(packs);
    progress.update("bench kernels", static_cast<std::int64_t>(k) + 1, static_cast<std::int64_t>(index.size()),
                    kept[k].layer);
  }
  report.instructions = std::move(kept);
  note_peak(report, progress);
  return report;
}

nlohmann::ordered_json to_json(const BenchReport& report) {
  using Json = nlohmann::ordered_json;
  std::map<std::string, double> by_op;
  Json by_instruction = Json::array();
  for (const TimedInstruction& t : report.instructions) {
    by_op[t.op] += t.worker_seconds;
    Json row = {{"layer", t.layer},
                {"op", t.op},
                {"worker_seconds", t.worker_seconds},
                {"gflops_per_second", t.worker_seconds > 0 ? t.flops / t.worker_seconds * 1e-9 : 0.0}};
    if (!t.kernel.empty())
      row.update({{"kernel", t.kernel},
                  {"code", t.code},
                  {"workspace_bytes", t.workspace_bytes},
                  {"packed_bytes", t.packed_bytes},
                  {"pack_seconds", t.pack_seconds}});
    by_instruction.push_back(std::move(row));
  }
  const double middle = median(report.step_seconds);
  const auto number = [](const std::optional<double>& x) { return x ? Json(*x) : Json(nullptr); };
  Json json = {{"step_seconds",
                {{"median", middle},
                 {"min", *std::min_element(report.step_seconds.begin(), report.step_seconds.end())},
                 {"max", *std::max_element(report.step_seconds.begin(), report.step_seconds.end())}}},
               {"predicted_seconds", number(report.predicted_seconds)},
               {"emulated_seconds", number(report.emulated_seconds)},
               {"gflops_per_second", middle > 0 ? report.step_flops / middle * 1e-9 : 0.0},
               {"native_bf16", report.native_bf16},
               {"loss", report.loss},
               {"model", report.model},
               {"planned_bytes", report.planned_bytes},
               {"resident_before_bytes", report.resident_before_bytes},
               {"peak_resident_bytes", report.peak_resident_bytes},
               {"memory", to_json(report.memory)},
               {"by_op", by_op},
               {"by_instruction", by_instruction}};
  if (report.ranks.empty()) return json;
  std::vector<std::pair<std::string, std::string>> names;
  for (const TimedInstruction& t : report.instructions) names.emplace_back(t.layer, t.op);
  json["ranks"] = to_json(report.ranks);
  json["traffic"] = traffic_json(report.ranks, names);
  json["traffic"]["overlap"] = report.overlap;
  return json;
}

}  // namespace voxshard
