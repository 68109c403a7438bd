#include "pipelines/commands/run_evaluate.h"

#include "pipelines/commands/memory_report.h"
#include "pipelines/engine/seen_inputs.h"
#include "pipelines/model_runs/rank_json.h"

namespace voxshard {
namespace {

TaskReport evaluate_run(EvaluateOptions options, const EstimatorOptions& estimator, const RunContext& context,
                        const TaskTable& tasks) {
  Progress& progress = context.progress();
  TrainedRun run = load_trained_run({.run = options.predictions,
                                     .checkpoint = options.checkpoint,
                                     .weights = options.weights,
                                     .transport = &context.transport()});
  for (const std::string& note : run.notes) progress.warn(note);
  if (const auto note = weights_note(run)) progress.log(*note);
  const Task& task = task_of(tasks, run.spec);
  require_own_settings(task, options.task, "evaluate", "the run is a " + run.spec.model_name());
  require_in_range(task.settings(TaskCommand::kEvaluate, options.task));
  EstimatorOptions asked = estimator;
  if (options.batch > 0) asked.config.eval_batch_size = options.batch;
  run.spec.cut.mesh.replicas = run.replicas;
  apply(asked, RunMode::kEvaluate, run.spec);
  options.batch = asked.config.eval_batch_size.value_or(0);
  if (options.batch == 0)
    progress.log("eval_batch_size is not given: one sample for each of " + std::to_string(run.spec.cut.mesh.replicas) +
                 " replicas");
  return task.evaluate_run(options, std::move(run), context);
}

}  // namespace

TaskReport run_evaluate(const EvaluateOptions& asked, const RunContext& context, const TaskTable& tasks,
                        const EstimatorOptions& estimator) {
  EvaluateOptions options = asked;
  TaskReport report;
  const bool of_run = is_trained_run(options.predictions);
  if (of_run) {
    report = evaluate_run(options, estimator, context, tasks);
  } else {
    std::error_code error;
    if (!std::filesystem::exists(options.predictions, error))
      throw Error(ErrorKind::kInput, "E_MISSING",
                  "[evaluate] " + options.predictions.string() + " does not exist; give predictions, or a run folder");
    const Task& task = task_predicting(tasks, options.predictions);
    require_own_settings(task, options.task, "evaluate", "these predictions are " + options.predictions.string());
    require_in_range(task.settings(TaskCommand::kEvaluate, options.task));
    options.seen = read_seen(options.predictions).value_or(SeenInputs());
    if (context.writes() || task.shares_evaluation()) report = task.evaluate(options, context);
  }
  const ProcessReport process = add_memory(report, context);
  if (!of_run) return report;
  const auto ranks = context.gather_memory(process);
  if (ranks.empty()) return report;
  report.json["ranks"] = ranks;
  report.text += memory_text_of_ranks(ranks);
  return report;
}

}  // namespace voxshard
