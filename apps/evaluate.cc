// voxshard evaluate: Dice and IoU of a folder of predictions, or COCO's numbers of a file of detections.
#include <CLI/CLI.hpp>

#include "apps/command.h"
#include "apps/task_args.h"
#include "pipelines/commands/run_evaluate.h"

namespace voxshard {
namespace {

RunCommand add(CLI::App& app) {
  auto o = std::make_shared<EvaluateOptions>();
  app.add_option("predictions", o->predictions, "Folder of predicted label maps, or a JSON file of COCO results")
      ->required();
  app.add_option("references", o->references,
                 "Folder of reference label maps with the same file names, or COCO JSON, or a Pascal VOC or KITTI folder")
      ->required();
  app.add_option("-o,--output", o->summary, "summary.json to write, in nnU-Net's form, or the twelve numbers of COCO");
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
          "Dice and IoU per class and case, beside the best HU threshold if asked; COCO's numbers of detections.",
          "voxshard evaluate predictions data/labelsTs --dataset data --baseline threshold -o summary.json", add};
}

}  // namespace voxshard
