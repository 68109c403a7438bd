#include "pipelines/commands/run_evaluate.h"

#include "pipelines/commands/evaluate_several.h"
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

/// Returns the lists of inputs that the runs were trained on: not predicted is what none of them predicted.
SeenInputs seen_of(const EvaluateOptions& options) {
  SeenInputs all = read_seen(options.predictions).value_or(SeenInputs());
  for (const std::filesystem::path& further : options.further)
    all = joined_seen(std::move(all), read_seen(further).value_or(SeenInputs()));
  return all;
}

TaskReport evaluate_predictions(EvaluateOptions options, const RunContext& context, const TaskTable& tasks) {
  std::error_code error;
  if (!std::filesystem::exists(options.predictions, error))
    throw Error(ErrorKind::kInput, "E_MISSING",
                "[evaluate] " + options.predictions.string() + " does not exist; give predictions, or a run folder");
  const Task& task = task_predicting(tasks, options.predictions);
  require_own_settings(task, options.task, "evaluate", "these predictions are " + options.predictions.string());
  require_in_range(task.settings(TaskCommand::kEvaluate, options.task));
  if (options.dry_run && !task.rehearses_evaluation())
    throw Error(ErrorKind::kUsage, std::string("[evaluate] {dry-run} is about label maps; scores of ") + task.name() +
                                       " come from one file and are quick: leave it out");
  options.seen = seen_of(options);
  return context.writes() || task.shares_evaluation() ? task.evaluate(options, context) : TaskReport();
}

}  // namespace

TaskReport run_evaluate(const EvaluateOptions& options, const RunContext& context, const TaskTable& tasks,
                        const EstimatorOptions& estimator) {
  const bool of_run = is_trained_run(options.predictions);
  if (options.dry_run && (of_run || !options.further.empty()))
    throw Error(ErrorKind::kUsage,
                "[evaluate] {dry-run} is about one folder of predictions; leave it out, or the other paths");
  const auto one = [&](const EvaluateOptions& asked) {
    return of_run ? evaluate_run(asked, estimator, context, tasks) : evaluate_predictions(asked, context, tasks);
  };
  TaskReport report = options.further.empty() ? one(options) : evaluate_several(options, one, context);
  const ProcessReport process = add_memory(report, context);
  if (!of_run) return report;
  const auto ranks = context.gather_memory(process);
  if (ranks.empty()) return report;
  report.json["ranks"] = ranks;
  report.text += memory_text_of_ranks(ranks);
  return report;
}

}  // namespace voxshard
