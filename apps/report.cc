// voxshard report: writes the page of a run, of several runs beside one another, or of predicted volumes.
#include <CLI/CLI.hpp>

#include "apps/command.h"
#include "apps/results.h"
#include "pipelines/commands/run_report.h"

namespace voxshard {
namespace {

RunCommand add(CLI::App& app) {
  auto options = std::make_shared<ReportOptions>();
  app.add_option("run", options->runs,
                 "Run folders of train, one that is going on too; several are compared. Or a folder of predicted "
                 "volumes")
      ->required();
  app.add_option("-o,--output", options->file,
                 "HTML file to write, one that works without a network; default: report.html in the folder");
  app.add_option("--images", options->images,
                 "Of predicted volumes: the images, a file or folder; default: those that case_paths.jsonl leads to, "
                 "else the labels are shown alone");
  return [options](const Context& context) { return outcome(run_report(*options, *context.progress)); };
}

}  // namespace

Command report_command() {
  return {
      .name = "report",
      .summary =
          "Writes the page of a run: curves and scores by class and case, missed classes in words, plan, memory, "
          "time, data, settings, and a paragraph of methods. Of several runs a page that compares them; of predicted "
          "volumes a contact sheet with the volume of each class.",
      .example =
          "voxshard report run\n  voxshard report run_a run_b -o both.html\n  voxshard report pred --images "
          "data/imagesTs",
      .add = add};
}

}  // namespace voxshard
