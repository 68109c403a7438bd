// voxshard evaluate: Dice and IoU of a folder of predictions, COCO's numbers of a file of detections, accuracy of a file of classes.
#include <CLI/CLI.hpp>

#include "apps/command.h"
#include "apps/task_args.h"
#include "pipelines/commands/run_evaluate.h"

namespace voxshard {
namespace {

RunCommand add(CLI::App& app) {
  auto o = std::make_shared<EvaluateOptions>();
  app.add_option("predictions", o->predictions, "Folder of predicted label maps, or a JSON file of COCO results or of classes")
      ->required();
  app.add_option("references", o->references,
                 "Folder of reference label maps with the same file names, or COCO JSON, or a Pascal VOC folder; of classes a data set, whose test part counts")
      ->required();
  app.add_option("-o,--output", o->summary, "summary.json to write, in nnU-Net's form, the twelve numbers of COCO, or the scores of classes");
  add_memory_option(
      app, "--host-memory", o->host_budget_bytes,
      "Budget of this process, like 8GiB: decides how many cases are counted at once, and which are left out; default: "
      "what the machine has free");
  add_task_settings(app, TaskCommand::kEvaluate, o->task);
  return [o](const Context& context) {
    o->threads = context.threads;
    return outcome(run_evaluate(*o, *context.progress));
  };
}

}  // namespace

Command evaluate_command() {
  return {"evaluate",
          "Dice and IoU per class and case, beside the best HU threshold if asked; COCO's numbers of detections; accuracy, ROC-AUC and calibration of classes.",
          "voxshard evaluate predictions data/labelsTs --dataset data --baseline threshold -o summary.json", add};
}

}  // namespace voxshard
