// voxshard demo: generated CT phantoms in an nnU-Net folder, images with boxes in a COCO set, digits in MNIST's files,
// or clips.
#include <CLI/CLI.hpp>

#include "apps/command.h"
#include "apps/setting_args.h"
#include "apps/terminal/flags.h"
#include "libcore/base/text.h"
#include "pipelines/commands/run_demo.h"

namespace voxshard {
namespace {

std::vector<std::string> task_names() {
  std::vector<std::string> names;
  for (const Task* task : tasks_by_models()) names.push_back(task->name());
  return names;
}

/// "Of classification: digits (the usual), or motion: clips".
std::string kinds_help() {
  std::string help;
  for (const Task* task : tasks_by_models())
    if (const std::string kinds = task->words().demo_kinds; !kinds.empty())
      help += (help.empty() ? "Of " : "; of ") + std::string(task->name()) + ": " + kinds;
  return help;
}

RunCommand add(CLI::App& app) {
  auto o = std::make_shared<DemoOptions>();
  app.add_option("folder", o->folder, "Where to write the data set")->required();
  const auto defaults = [](std::string TaskWords::*clause) {
    return " (default: " + joined(task_clauses(clause), ", ") + ")";
  };
  o->task = task_table().front()->name();
  app.add_option("--task", o->task, "What the data is for: " + or_text(task_names()))->capture_default_str();
  app.add_option("--kind", o->kind, kinds_help());
  app.add_option("--cases", o->cases, "Training cases" + defaults(&TaskWords::demo_cases));
  app.add_option("--test", o->test_cases, "Held-out cases" + defaults(&TaskWords::demo_test_cases));
  app.add_option("--seed", o->seed, "Same seed, same bytes")->check(number_in(kSeeds))->capture_default_str();
  app.add_option("--size", o->size,
                 "small (48 to 80 voxels or 160 to 256 pixels an axis, digits 28, clips 32), medium (twice) or large "
                 "(three times)")
      ->capture_default_str();
  return [o](const Context& context) {
    o->threads = context.threads;
    const DemoReport report = run_demo(*o, *context.progress);
    return Outcome{.json = to_json(report),
                   .text = std::to_string(report.cases) + " training and " + std::to_string(report.test_cases) +
                           " held-out cases in " + duration_text(report.seconds) + "\n",
                   .next = with_flags(report.next),
                   .note = with_flags(std::string_view(report.note))};
  };
}

}  // namespace

Command demo_command() {
  return {"demo",
          "Writes a small data set of generated CT phantoms, pictures, digits or clips, to try everything without "
          "patient data.",
          "voxshard demo data --cases 12 --test 4 --seed 0",
          add,
          nullptr,
          "files that are whole stay, but they are no data set yet"};
}

}  // namespace voxshard
