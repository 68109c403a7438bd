// voxshard evaluate: Dice, IoU and distances of surfaces of a folder of predictions, COCO's numbers and FROC of a file
// of detections, accuracy of a file of classes, or the loss and metrics of a run on data.
#include <CLI/CLI.hpp>

#include "apps/command.h"
#include "apps/results.h"
#include "apps/run_context.h"
#include "apps/setting_args.h"
#include "libcore/base/text.h"
#include "pipelines/commands/run_evaluate.h"
#include "pipelines/settings/tpu_settings.h"

namespace voxshard {
namespace {

struct Options {
  EvaluateOptions evaluate;
  std::vector<std::filesystem::path> more;  // paths behind the first two
  RunResources resources;
  EstimatorSettings estimator;
  Settings settings;
};

/// Sorts the paths as they were typed: the last one is the references, those before it are evaluated.
EvaluateOptions sorted(const Options& options) {
  EvaluateOptions o = options.evaluate;
  if (options.more.empty()) return o;
  o.further.push_back(o.references);
  o.further.insert(o.further.end(), options.more.begin(), options.more.end() - 1);
  o.references = options.more.back();
  return o;
}

RunCommand add(CLI::App& app) {
  auto options = std::make_shared<Options>();
  EvaluateOptions& o = options->evaluate;
  const std::string run = "Evaluation of a run";
  const auto clauses = [](std::string TaskWords::*clause, const char* separator) {
    return joined(task_clauses(clause), separator);
  };
  app.add_option("predictions", o.predictions,
                 clauses(&TaskWords::predictions, ", ") + ", a JSON file of " +
                     clauses(&TaskWords::json_predictions, " or of ") + ", or a run folder or checkpoint")
      ->required();
  app.add_option("references", o.references,
                 clauses(&TaskWords::references, ", ") + "; " + clauses(&TaskWords::data_references, "; ") +
                     "; of a run data as it was trained on, " + clauses(&TaskWords::run_data, ", "))
      ->required();
  app.add_option("more", options->more,
                 "With more paths the last one is the references, and all before it are predictions, or runs, of the "
                 "same data: each is evaluated, with mean and spread, and those that share no case, such as of folds, "
                 "also as one set");
  app.add_option("-o,--output", o.summary,
                 clauses(&TaskWords::scores, ", ") +
                     ", or what --json prints of a run or of several; of several also their table as .csv beside it");
  app.add_flag(
      "--dry-run", o.dry_run,
      "Of label maps: say which cases would be scored and left out, and the memory of one, from headers alone; "
      "write nothing");
  add_memory_option(
      app, "--host-memory", options->resources.host_budget_bytes,
      "Budget of this process, like 8GiB: decides how many cases are counted at once, and which are left out; default: "
      "what the machine has free");
  add_memory_option(app, "--memory", options->resources.core_budget_bytes,
                    "Budget of one core, like 2GiB; a plan over it is refused before it starts")
      ->group(run);
  add_weights_options(app, o.checkpoint, o.weights, run);
  app.add_option("--eval_steps,--eval-steps", o.steps,
                 "Batches, the data repeated as often as needed; 0: those that the data fill once")
      ->check(CLI::Range(0, 1'000'000'000))
      ->capture_default_str()
      ->group(run);
  app.add_option("--eval_on_tpu,--eval-on-tpu", options->estimator.options.eval_on_tpu,
                 "false: on one core, uncut; no condition of a TPU holds then")
      ->capture_default_str()
      ->group(run);
  add_task_rows(options->settings, TaskCommand::kEvaluate, o.task);
  options->settings.add(estimator_rows(options->estimator));
  add_settings(app, options->settings);
  return [options](const Context& context) {
    const RunContext run = run_context(context, options->resources);
    return outcome(run_evaluate(sorted(*options), run, task_table(), estimator_options(options->estimator)));
  };
}

}  // namespace

Command evaluate_command() {
  return {.name = "evaluate",
          .summary =
              "Dice and IoU per class and case, surfaces, volumes and regions if asked, beside the best HU threshold; "
              "COCO's numbers and FROC of detections; accuracy, ROC-AUC and calibration of classes; loss and metrics "
              "of a run.",
          .example =
              "voxshard evaluate predictions data/labelsTs --dataset data --baseline threshold -o summary.json\n  "
              "voxshard evaluate predictions data/labelsTs --metrics dice,nsd,hd95,assd --tolerance-mm 2\n  "
              "voxshard evaluate found.json data/annotations/instances_val.json --metrics coco,froc -o scores.json\n  "
              "voxshard evaluate run work --eval_batch_size 8 --json\n  "
              "voxshard evaluate run_0/held_out run_1/held_out run_2/held_out data/labelsTr -o folds.json\n  "
              "mpirun -n 4 --bind-to none voxshard evaluate predictions data/labelsTs --dataset data -o summary.json",
          .add = add,
          .ranks = true};
}

}  // namespace voxshard
