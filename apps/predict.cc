// voxshard predict: label maps for new volumes, objects in new images, or classes of either.
#include <CLI/CLI.hpp>

#include "apps/command.h"
#include "apps/run_context.h"
#include "apps/setting_args.h"
#include "apps/terminal/exit_code.h"
#include "apps/terminal/flags.h"
#include "apps/terminal/shell.h"
#include "io/files/scratch_file.h"
#include "libcore/base/text.h"
#include "pipelines/commands/run_predict.h"
#include "pipelines/engine/audit_trail.h"
#include "pipelines/settings/tpu_settings.h"

namespace voxshard {
namespace {

namespace fs = std::filesystem;

struct Options {
  PredictOptions predict;
  RunResources resources;
  EstimatorSettings estimator;
  Settings settings;
  std::string partition, precision, scratch;
  std::filesystem::path audit;
  std::vector<std::filesystem::path> paths;  // further runs, and the input at the end
};

RunCommand add(CLI::App& app) {
  auto o = std::make_shared<Options>();
  app.add_option("run", o->predict.run,
                 "Run folder of voxshard train, or a checkpoint file; of several, RUN1 RUN2 ... INPUT, the class "
                 "probabilities are "
                 "averaged")
      ->required();
  app.add_option("input", o->paths,
                 joined(task_clauses(&TaskWords::inputs), "; ") +
                     ". A file on which a library crashes ends the run, which names it")
      ->required();
  app.add_option("-o,--output", o->predict.output, joined(task_clauses(&TaskWords::outputs), "; "))->required();
  app.add_flag("--held-out", o->predict.held_out,
               "Predict only what the run was not trained on, by what the files hold, whatever they are called");
  app.add_flag(
      "--recursive", o->predict.recursive,
      "Of a folder take the inputs in all folders in it too, up to 16 deep; links to folders and out of the "
      "folder are not followed. Outputs are then numbered, case_0001, unless --keep-names; case_paths.jsonl, for "
      "its owner alone, leads back");
  app.add_flag("--dry-run", o->predict.dry_run,
               "Say what would be predicted, kept and left out, and an estimate of its memory and time; write nothing");
  add_weights_options(app, o->predict.checkpoint, o->predict.weights);
  app.add_option("--partition", o->partition, "Another partition than that of the training");
  app.add_option("--precision", o->precision, "Another precision: bf16 or f32");
  add_memory_option(app, "--memory", o->resources.core_budget_bytes,
                    "Budget of one core, like 2GiB; a plan over it is refused before it starts");
  add_memory_option(app, "--host-memory", o->resources.host_budget_bytes,
                    "Budget of this process, like 8GiB; default: what the machine has free. Where the cores of an "
                    "input exceed it they take turns in memory");
  app.add_option("--scratch", o->scratch,
                 "Folder for the file of cores that take turns in memory, on a fast disk; default: the output's; none: "
                 "inputs over the budget are left out");
  app.add_option(
         "--audit", o->audit,
         "File of JSON lines (audit.jsonl) that gets one for each case: when, who called, hashes of model, input "
         "and outputs, chained so that check --audit finds every change; its last hash goes to syslog too")
      ->group("What else is written");
  add_task_rows(o->settings, TaskCommand::kPredict, o->predict.task);
  o->settings.add(estimator_rows(o->estimator));
  add_settings(app, o->settings);
  return [o](const Context& context) {
    o->predict.input = o->paths.back();
    o->predict.further_runs.assign(o->paths.begin(), o->paths.end() - 1);
    if (!o->partition.empty()) o->predict.partition = partition_from_text(o->partition, partition_rank(o->partition));
    if (!o->precision.empty()) o->predict.precision = precision_from_name(o->precision);
    if (o->scratch != "none")
      o->resources.scratch = o->scratch.empty() ? nearest_folder(o->predict.output) : fs::path(o->scratch);
    o->predict.task.of<AuditRequest>().file = o->audit;
    const RunContext run = run_context(context, o->resources);
    const PredictReport report = run_predict(o->predict, run, task_table(), estimator_options(o->estimator));
    nlohmann::ordered_json json = to_json(report);
    if (report.interrupted) json["next"] = "voxshard " + shell_line(context.words);
    return Outcome{.json = std::move(json),
                   .text = report.text,
                   .exit_code = report.failures.empty() && !report.damaged ? kExitOk : kExitPartial,
                   .interrupted = report.interrupted,
                   .next = with_flags(report.next)};
  };
}

}  // namespace

Command predict_command() {
  return {
      .name = "predict",
      .summary =
          "Segments whole volumes, finds objects in whole pictures, or tells their class, of videos over time, by a "
          "trained run.",
      .example =
          "voxshard predict model data/imagesTs -o predictions\n  "
          "voxshard predict fold_0 fold_1 fold_2 data/imagesTs -o predictions\n  "
          "voxshard predict clips film.mp4 -o found.json --hop 8 --draw seen.mp4\n  "
          "mpirun -n 4 --bind-to none voxshard predict model data/imagesTs -o predictions --partition 1x2x2x1x1",
      .add = add,
      .saves =
          "what is predicted stays, marked as incomplete; label maps, objects and classes are kept when the same is "
          "predicted again",
      .ranks = true};
}

}  // namespace voxshard
