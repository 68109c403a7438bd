// voxshard report: writes the page of a run, or of several runs beside one another.
#include <CLI/CLI.hpp>

#include "apps/command.h"
#include "apps/results.h"
#include "pipelines/commands/run_report.h"

namespace voxshard {
namespace {

RunCommand add(CLI::App& app) {
  auto options = std::make_shared<ReportOptions>();
  app.add_option("run", options->runs, "Run folders of train, one that is going on too; several are compared")
      ->required();
  app.add_option("-o,--output", options->file,
                 "HTML file to write, one that works without a network; default: report.html in the folder of the run");
  return [options](const Context&) { return outcome(run_report(*options)); };
}

}  // namespace

Command report_command() {
  return {.name = "report",
          .summary =
              "Writes the page of a run: curves and scores by class and case, missed classes in words, plan, memory, "
              "time, data, settings, and a paragraph of methods. Of several runs a page that compares them.",
          .example = "voxshard report run\n  voxshard report run_a run_b -o both.html",
          .add = add};
}

}  // namespace voxshard
