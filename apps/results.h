// What the program says at its end: the result of a subcommand, or the one error, for people or as a JSON document.
// Texts keep to letters that do not steer a screen.
//
//   return print_outcome(outcome, json);            // the exit code
//   return report_error(Error(...), json);
#pragma once

#include <string>

#include "apps/command.h"
#include "pipelines/engine/requests.h"

namespace CLI {
class App;
class Success;
}  // namespace CLI

namespace voxshard {

/// The report of a task as what its command hands back.
Outcome outcome(const TaskReport& report);

/// All that stands on standard output. Each returns the exit code. Errors: kOutput when it does not take it, as a full
/// disk.
int print_outcome(const Outcome& outcome, bool json);
int print_version(bool json);
/// --help, as CLI11 tells of it.
int print_help(const CLI::App& root, const CLI::Success& help);

/// On standard error, and with `json` as a document on standard output. Each returns the exit code.
int report_error(const Error& error, bool json);
/// Of a command that was stopped and has nothing to tell.
int report_stop(bool json);

}  // namespace voxshard
