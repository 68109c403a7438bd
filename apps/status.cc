// voxshard status: says what the training of a run folder is doing, from any machine that sees the folder.
#include <CLI/CLI.hpp>

#include "apps/command.h"
#include "apps/setting_args.h"
#include "pipelines/commands/run_status.h"

namespace voxshard {
namespace {

RunCommand add(CLI::App& app) {
  auto run = std::make_shared<std::string>();
  app.add_option("run", *run, "Run folder, of a training that runs, has ended or was killed")
      ->required()
      ->type_name(kPathType);
  return [run](const Context&) {
    const StatusReport report = run_status(*run);
    const bool goes_on = report.state == RunState::kStopped || report.state == RunState::kDead;
    return Outcome{.json = to_json(report),
                   .text = to_text(report),
                   .next = goes_on ? std::vector<std::string>{"train", "--resume", *run} : std::vector<std::string>()};
  };
}

}  // namespace

Command status_command() {
  return {"status", "Says what a training is doing: step, rate, time left, last validation, running or dead.",
          "voxshard status run", add};
}

}  // namespace voxshard
