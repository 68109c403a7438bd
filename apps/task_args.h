// What tasks want to be told about a command, as options of its subcommand, and a task's report as the outcome of a
// command.
//
//   add_task_settings(app, TaskCommand::kTrain, options->task);   // --crop, --flip, --val ...
//   return outcome(run_evaluate(*options, run_context(context, resources)));
#pragma once

#include "apps/command.h"
#include "libcore/base/number_range.h"
#include "pipelines/commands/task_table.h"

namespace CLI {
class Option;
class Validator;
}

namespace voxshard {

/// Of every --seed: an unsigned number of 64 bits as CLI11 reads it would also take -1.
inline constexpr NumberRange kSeeds{0, 0x1p63};

/// The range of a number as the check of its option: it refuses what the library would refuse, before anything begins,
/// and help shows it. What is no number passes: the conversion that follows says so.
///   app.add_option("--seed", seed, "Seed")->check(number_in(kSeeds));   // --seed: -1 is not in 0 to 9.2e+18
CLI::Validator number_in(const NumberRange& range);

/// One of these words as the check of an option; a word that is nearly one of them gets it as a suggestion.
///   app.add_option("--model", model)->check(one_of({"unet3d", "retinanet"}));
///   // --model: retinanett not in {unet3d,retinanet}; did you mean retinanet?
CLI::Validator one_of(const std::vector<std::string>& words);

/// An option that says bytes, like 8GiB; `bytes` stays as it is where nobody says them, and must stay where it is.
CLI::Option* add_memory_option(CLI::App& app, const std::string& name, std::int64_t& bytes, const std::string& help);

/// One option for each name that a task has; what is given goes to all tasks that have it, and is noted in
/// `options.given`. `options` must stay where it is.
void add_task_settings(CLI::App& app, TaskCommand command, TaskOptions& options, const TaskTable& tasks = task_table());

/// The context that a command runs in, with what --memory and --host-memory grant.
RunContext run_context(const Context& context, RunResources resources);

Outcome outcome(const TaskReport& report);

}  // namespace voxshard
