// Ctrl-C, SIGTERM, SIGHUP (the terminal is gone) and SIGPIPE (nobody reads what is printed any more): the first one is
// answered on the screen at once, and asks the command to save what is whole and to end; where nothing is worth saving
// it ends the process itself. A second one ends it in any case, but for SIGPIPE, which comes with every line that is
// not read. No end leaves a torn file or a temporary one. A file that grows beyond the limit of the process (SIGXFSZ)
// is an output that cannot be written, as on a full disk.
//
//   catch_stop_signals();
//   on_stop({.saves = "the last whole step is saved; go on with --resume"});
//   if (stop_signal() != 0) ...
#pragma once

#include <array>
#include <csignal>
#include <string>

namespace voxshard {

/// 128 + the signal's number, as a shell counts: 129 for SIGHUP, 130 for Ctrl-C, 141 for SIGPIPE, 143 for SIGTERM.
constexpr int interrupted_exit_code(int signal) { return 128 + signal; }

struct StopSignal {
  int number;
  const char* name;
  const char* meaning;          // a clause, without a full stop
  bool may_be_ignored = false;  // by the process that started this one, as nohup ignores SIGHUP
};

/// The signals that ask a command to stop.
inline constexpr std::array<StopSignal, 4> kStopSignals = {{
    {SIGHUP, "SIGHUP", "the terminal is gone; not under nohup", true},
    {SIGINT, "SIGINT", "Ctrl-C"},
    {SIGPIPE, "SIGPIPE", "nobody reads the output any more", true},
    {SIGTERM, "SIGTERM", "asked to stop, as by kill or by Slurm"},
}};

struct StopNotice {
  std::string saves;   // what the command does when it is asked to stop; empty: it ends at once
  std::string leaves;  // then: what stays
  bool quiet = false;  // nothing on the screen
  bool json = false;   // where it ends at once: with an error's document on standard output
};

/// From now on these signals are caught. Until on_stop() they end the process at once. Who has told the process to
/// ignore SIGHUP or SIGPIPE, as nohup does, is obeyed.
void catch_stop_signals();
/// What holds for the command that runs; called once, before it.
void on_stop(const StopNotice& notice);
/// The signal that asked to stop, 0 when none did.
int stop_signal();

}  // namespace voxshard
