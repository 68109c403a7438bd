#include "pipelines/commands/run_predict.h"

#include "libcore/kernels/conv.h"
#include "pipelines/model_runs/rank_json.h"

namespace voxshard {

PredictReport run_predict(const PredictOptions& asked, const RunContext& context, const TaskTable& tasks,
                          const EstimatorOptions& estimator) {
  PredictOptions options = asked;
  Progress& progress = context.progress();
  TrainedRun run = load_trained_run({.run = options.run,
                                     .checkpoint = options.checkpoint,
                                     .weights = options.weights,
                                     .partition = options.partition,
                                     .precision = options.precision,
                                     .models = options.models,
                                     .transport = &context.transport()});
  for (const std::string& note : run.notes) progress.warn(note);
  if (const auto note = weights_note(run)) progress.log(*note);
  if (asked.partition && estimator.config.input_partition_dims)
    throw Error(ErrorKind::kConfig,
                "[tpu_config] {partition} and input_partition_dims both say how inputs are cut; give one of them");
  apply(estimator, RunMode::kPredict, run.spec);
  if (run.spec.precision == DType::kBF16 && !cpu_has_native_bf16())
    progress.log("this processor does not multiply bf16: values are stored as bf16 and multiplied in f32");
  const Task& task = task_of(tasks, run.spec);
  require_own_settings(task, options.task, "predict", "the run is a " + run.spec.model_name());
  require_in_range(task.settings(TaskCommand::kPredict, options.task));
  const std::filesystem::path checkpoint = run.file;
  const std::string weights = run.weights;
  PredictReport report = task.predict(options, std::move(run), context);
  report.checkpoint = checkpoint, report.weights = weights;
  report.memory = context.memory().report(report.memory.plan, progress);
  report.ranks = context.gather_memory(report.memory);
  report.text += report.ranks.empty() ? to_text(report.memory) : memory_text_of_ranks(report.ranks);
  return report;
}

nlohmann::ordered_json to_json(const PredictReport& report) {
  nlohmann::ordered_json cases = nlohmann::ordered_json::array();
  for (const PredictedCase& c : report.cases)
    cases.push_back({{"id", c.id}, {"file", c.file.string()}, {"seconds", c.seconds}});
  nlohmann::ordered_json json = {{"checkpoint", report.checkpoint.string()},
                                 {"cases", cases},
                                 {"kept", report.kept},
                                 {"failed", report.failures.size()},
                                 {"failures", to_json(report.failures)},
                                 {"not_reached", report.not_reached},
                                 {"bytes_per_core", report.bytes_per_core},
                                 {"host_bytes", report.host_bytes},
                                 {"scratch_bytes", report.scratch_bytes},
                                 {"memory", to_json(report.memory)},
                                 {"interrupted", report.interrupted}};
  if (!report.weights.empty()) json["weights"] = report.weights;
  add_counts(json, report.seen);
  if (!report.ranks.empty()) json["ranks"] = report.ranks;
  if (!report.found.is_null()) json.update(report.found);
  return json;
}

}  // namespace voxshard
