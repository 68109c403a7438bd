// voxshard check: judges every case of a data set before anything is trained on it.
#include <CLI/CLI.hpp>
#include <algorithm>
#include <utility>

#include "apps/command.h"
#include "apps/results.h"
#include "apps/run_context.h"
#include "apps/setting_args.h"
#include "apps/terminal/exit_code.h"
#include "pipelines/commands/run_check.h"

namespace voxshard {
namespace {

struct Options {
  CheckRequest request;
  RunResources resources;
  Settings settings;
  std::filesystem::path audit;
  std::string audit_end;
};

/// Returns the options of the command that are about a data set: all but those of an audit.
std::vector<const CLI::Option*> data_set_options(CLI::App& app) {
  return std::as_const(app).get_options([](const CLI::Option* option) {
    return !option->check_lname("audit") && !option->check_lname("audit-end") && option->get_name() != "dataset";
  });
}

/// Errors: kUsage when one of these options is typed, not set by --config.
void require_none_typed(const std::vector<const CLI::Option*>& options, const std::set<std::string>& of_config) {
  for (const CLI::Option* option : options)
    if (option->count() > 0 &&
        std::ranges::none_of(option->get_lnames(), [&](const std::string& name) { return of_config.contains(name); }))
      throw Error(ErrorKind::kUsage, "[usage] " + option->get_name() +
                                         " is about a data set, and --audit is an audit file instead of one; leave " +
                                         "one of them out");
}

RunCommand add(CLI::App& app) {
  auto options = std::make_shared<Options>();
  CheckRequest* const o = &options->request;
  app.add_option(
      "dataset", o->dataset,
      "Data set folder: nnU-Net or Medical Segmentation Decathlon, or with --classes a tree of DICOM studies; "
      "it is only read. Not with --images and --labels");
  app.add_flag("--deep", o->deep,
               "Read every voxel of the images too; without it their headers, the bytes of their files and the label "
               "maps are checked");
  app.add_option("-o,--output", o->output, "Folder to write: a picture of each finding, findings.json, findings.csv");
  app.add_option("--csv", o->csv, "CSV to write: a row for each finding");
  add_task_rows(options->settings, TaskCommand::kCheck, o->task);
  add_settings(app, options->settings);
  add_memory_option(app, "--host-memory", options->resources.host_budget_bytes,
                    "Budget of this process, like 8GiB: decides how many cases are in flight; default: what the "
                    "machine has free");
  app.add_option("--audit", options->audit,
                 "Instead of a data set: the audit file of predict --audit. Names the first line that is changed, "
                 "missing, doubled, moved or cut; exit 9 when there is one");
  app.add_option("--audit-end", options->audit_end,
                 "With --audit: a hash that the file must hold, such as the last one in the system's log: shows that "
                 "lines were cut off its end");
  return [options, of_data = data_set_options(app)](const Context& context) {
    if (!options->audit.empty() || !options->audit_end.empty()) {
      if (options->audit.empty())
        throw Error(ErrorKind::kUsage, "[usage] --audit-end is a hash of an audit file; give that with --audit");
      if (!options->request.dataset.empty())
        throw Error(ErrorKind::kUsage, "[usage] --audit is an audit file instead of a data set; give one of them");
      require_none_typed(of_data, context.of_config);
      const TaskReport report = run_check_audit(options->audit, options->audit_end);
      Outcome result = outcome(report);
      if (!report.json.at("audit").at("broken").is_null()) result.exit_code = kExitMismatch;
      return result;
    }
    return outcome(run_check(options->request, run_context(context, options->resources)));
  };
}

}  // namespace

Command check_command() {
  return {.name = "check",
          .summary =
              "Finds what is wrong or odd in a data set: grids, label values, HU, doubles, left and right, shifted "
              "labels, classes unlike those of the other cases; exit 8 when there are findings.",
          .example =
              "voxshard check data --deep -o checked\n  "
              "voxshard check data --csv findings.csv --json\n  "
              "voxshard check --audit audit.jsonl\n  "
              "mpirun -n 4 --bind-to none voxshard check data --deep -o checked",
          .add = add,
          .ranks = true};
}

}  // namespace voxshard
