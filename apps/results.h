// The final output of the program: the result of a subcommand, or the one error, for people or as a JSON document.
// Texts contain no characters that control a terminal.
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

/// Converts the report of a task to the result of its command.
Outcome outcome(const TaskReport& report);

/// How an outcome is printed.
struct Printing {
  bool json = false;
  bool verbose = false;  // the planned memory by part too
};

/// Write everything that goes to standard output. Each returns the exit code. Errors: kOutput when the write fails, as
/// on a full disk.
int print_outcome(const Outcome& outcome, const Printing& how);
int print_version(bool json);
/// Prints the page of help of --help, or all of --help-all as formatted by CLI11.
int print_help(const CLI::App& root, const CLI::Success& help);

/// Reports an error on standard error, and with `json` also as a document on standard output. Returns the exit code.
int report_error(const Error& error, bool json);
/// Returns the exit code of an interruption: SIGTERM's when only another rank received a signal.
int stop_exit_code();
/// Likewise reports the interruption of a command without a result.
int report_stop(bool json);

}  // namespace voxshard
