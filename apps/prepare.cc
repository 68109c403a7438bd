// voxshard prepare: converts a data set folder to a work folder that `train` reads.
#include <CLI/CLI.hpp>

#include "apps/command.h"
#include "apps/results.h"
#include "apps/run_context.h"
#include "apps/setting_args.h"
#include "pipelines/commands/run_prepare.h"

namespace voxshard {
namespace {

struct Options {
  PrepareRequest request;
  RunResources resources;
  Settings settings;
};

RunCommand add(CLI::App& app) {
  auto options = std::make_shared<Options>();
  PrepareRequest* const o = &options->request;
  app.add_option(
      "dataset", o->dataset,
      "Data set folder: nnU-Net or Medical Segmentation Decathlon, or with --classes a tree of DICOM studies. Its "
      "dataset.json may name images elsewhere, by absolute path or ..; they are only read. A file on which a library "
      "crashes (instead of refusing it) ends the run, which names it or its case: leave it out and go on with "
      "--resume. Not with --images and --labels");
  app.add_option("-o,--output", o->work, "Work folder to write")->required();
  add_task_rows(options->settings, TaskCommand::kPrepare, o->task);
  add_settings(app, options->settings);
  app.add_option("--seed", o->seed, "Seed of the foreground samples")->check(number_in(kSeeds))->capture_default_str();
  app.add_flag("--resume", o->resume, "Skip cases that an earlier run finished with the same options and files");
  app.add_flag("--dry-run", o->dry_run,
               "Say which cases would be prepared, kept and left out, and the memory of one, from headers alone; write "
               "nothing");
  add_memory_option(
      app, "--host-memory", options->resources.host_budget_bytes,
      "Budget of this process, like 8GiB: decides how many cases are in flight, and which are refused; default: "
      "what the machine has free, shared by the ranks on it");
  return [options](const Context& context) {
    return outcome(run_prepare(options->request, run_context(context, options->resources)));
  };
}

}  // namespace

Command prepare_command() {
  return {.name = "prepare",
          .summary =
              "Checks a data set and brings it to one orientation, like spacings and one scale of intensity; "
              "ranks of an MPI launcher share out the cases.",
          .example =
              "voxshard prepare data -o work --spacing median --clip=-200,300\n  "
              "mpirun -n 4 --bind-to none voxshard prepare data -o work --spacing median --clip=-200,300",
          .add = add,
          .saves = "finished cases stay; go on with --resume",
          .ranks = true};
}

}  // namespace voxshard
