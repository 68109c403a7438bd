#include "pipelines/commands/run_predict.h"

#include "libcore/kernels/conv.h"
#include "pipelines/engine/rehearsal.h"
#include "pipelines/model_runs/rank_json.h"

namespace voxshard {
namespace {

/// Says whose probabilities are averaged. Errors: kUsage for runs of different tasks, and for a task that averages
/// none.
void say_average(const TrainedRun& run, const Task& task, const TaskTable& tasks, const PredictOptions& options,
                 Progress& progress) {
  if (!options.further_runs.empty() && run.others.empty())
    progress.log("averaged: nothing, since the runs are one; it is predicted by itself");
  if (run.others.empty()) return;
  require_agreement(run, "task", [&](const TrainedRun& one) { return std::string(task_of(tasks, one.spec).name()); });
  if (!task.averages())
    throw Error(ErrorKind::kUsage,
                std::string("[predict] ") + task.name() +
                    " does not average runs: what several of them find has no probabilities voxel by "
                    "voxel or item by item; predict with each run by itself, into an output of its own");
  progress.log("averaged: the class probabilities of " + std::to_string(1 + run.others.size()) + " runs");
  for (const AveragedRun& one : averaged_runs_of(run))
    progress.log("  " + one.checkpoint.string() + (one.times > 1 ? ", " + std::to_string(one.times) + " times" : ""));
}

}  // namespace

PredictReport run_predict(const PredictOptions& asked, const RunContext& context, const TaskTable& tasks,
                          const EstimatorOptions& estimator) {
  PredictOptions options = asked;
  Progress& progress = context.progress();
  if (options.recursive) {
    std::error_code error;
    if (context.writes() && !std::filesystem::is_directory(options.input, error))
      throw Error(ErrorKind::kUsage,
                  "[predict] {recursive} is about folders, and " + options.input.string() + " is none; leave it out");
    options.input = std::filesystem::absolute(options.input).lexically_normal();
    if (!options.input.has_filename()) options.input = options.input.parent_path();
  }
  if (context.writes() && is_trained_run(options.input))
    throw Error(ErrorKind::kUsage, "[predict] the input " + options.input.string() +
                                       " is a run of train; the last path is what is predicted: name it behind the "
                                       "runs");
  TrainedRun run = load_averaged_runs({.run = options.run,
                                       .checkpoint = options.checkpoint,
                                       .weights = options.weights,
                                       .partition = options.partition,
                                       .precision = options.precision,
                                       .models = options.models,
                                       .transport = &context.transport()},
                                      options.further_runs);
  for_each_run(run, [&](const TrainedRun& one) {
    for (const std::string& note : one.notes) progress.warn(note);
    if (const auto note = weights_note(one)) progress.log(*note);
  });
  if (asked.partition && estimator.config.input_partition_dims)
    throw Error(ErrorKind::kConfig,
                "[tpu_config] {partition} and input_partition_dims both say how inputs are cut; give one of them");
  for_each_run(run, [&](TrainedRun& one) { apply(estimator, RunMode::kPredict, one.spec); });
  if (run.spec.precision == DType::kBF16 && !cpu_has_native_bf16())
    progress.log("this processor does not multiply bf16: values are stored as bf16 and multiplied in f32");
  const Task& task = task_of(tasks, run.spec);
  say_average(run, task, tasks, options, progress);
  require_own_settings(task, options.task, "predict", "the run is a " + run.spec.model_name());
  require_in_range(task.settings(TaskCommand::kPredict, options.task));
  const std::filesystem::path checkpoint = run.file;
  const std::string weights = run.weights;
  const std::vector<AveragedRun> averaged = averaged_runs_of(run);
  PredictReport report = task.predict(options, std::move(run), context);
  report.checkpoint = checkpoint, report.weights = weights, report.averaged = averaged;
  report.memory = context.memory().report(report.memory.plan, progress);
  report.ranks = context.gather_memory(report.memory);
  report.text += report.ranks.empty() ? to_text(report.memory) : memory_text_of_ranks(report.ranks);
  return report;
}

namespace {

/// Returns the numbers of inputs by what became of them, or would: they add up to all inputs.
nlohmann::ordered_json summary_of(const PredictReport& report) {
  const std::int64_t done = std::ssize(report.cases) + std::ssize(report.planned);
  return {{"inputs", done + std::ssize(report.failures) + std::ssize(report.not_reached)},
          {"predicted", done - report.kept},
          {"kept", report.kept},
          {"left_out", std::ssize(report.failures)},
          {"not_reached", std::ssize(report.not_reached)}};
}

}  // namespace

nlohmann::ordered_json to_json(const PredictReport& report) {
  nlohmann::ordered_json cases = nlohmann::ordered_json::array();
  for (const PredictedCase& c : report.cases)
    cases.push_back({{"id", c.id}, {"file", c.file.string()}, {"seconds", c.seconds}});
  nlohmann::ordered_json json = {{"checkpoint", report.checkpoint.string()},
                                 {"cases", cases},
                                 {"kept", report.kept},
                                 {"failed", report.failures.size()},
                                 {"failures", to_json(report.failures)},
                                 {"summary", summary_of(report)},
                                 {"foreign", to_json(report.foreign)},
                                 {"not_reached", report.not_reached},
                                 {"bytes_per_core", report.bytes_per_core},
                                 {"host_bytes", report.host_bytes},
                                 {"scratch_bytes", report.scratch_bytes},
                                 {"memory", to_json(report.memory)},
                                 {"interrupted", report.interrupted}};
  if (!report.planned.empty()) json["planned"] = to_json(report.planned), json["time_from"] = report.time_source;
  if (!report.weights.empty()) json["weights"] = report.weights;
  if (!report.averaged.empty()) json["averaged"] = to_json(report.averaged);
  add_counts(json, report.seen);
  if (!report.ranks.empty()) json["ranks"] = report.ranks;
  if (!report.found.is_null()) json.update(report.found);
  return json;
}

}  // namespace voxshard
