// Handles Ctrl-C, SIGTERM, SIGHUP (the terminal is gone) and SIGPIPE (the reader of the output is gone). The first
// signal is confirmed on the screen at once and asks the command to save complete results and to end; if nothing is
// worth saving, the handler ends the process. A second one ends it in any case, except SIGPIPE, which comes with every
// line that is not read. Neither way leaves an incomplete or temporary file. A file that grows beyond the limit of the
// process (SIGXFSZ) is reported as an output that cannot be written, as on a full disk.
//
//   catch_stop_signals();
//   on_stop({.saves = "the last whole step is saved; go on with --resume"});
//   if (stop_signal() != 0) ...
#pragma once

#include <array>
#include <csignal>
#include <string>

namespace voxshard {

/// Returns 128 + the signal's number, as a shell does: 129 for SIGHUP, 130 for Ctrl-C, 141 for SIGPIPE, 143 for
/// SIGTERM.
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
  std::string saves;   // message about what the command saves when it is asked to stop; empty: it ends at once
  std::string leaves;  // message about what remains when it ends at once
  bool quiet = false;  // nothing on the screen
  bool json = false;   // when it ends at once: print an error document on standard output
};

/// Starts to catch these signals. Until on_stop() they end the process at once. SIGHUP or SIGPIPE stay ignored if the
/// parent process set them so, as nohup does.
void catch_stop_signals();
/// Sets the notice for the command; called once, before it runs.
void on_stop(const StopNotice& notice);
/// Called when the result or the error is printed and nothing is left to stop: the next signal is ignored, so that no
/// second document follows on standard output (mpirun stops the remaining ranks as soon as one ends with another code
/// than 0). The signal after it ends the process at once.
void work_is_over();
/// Returns the signal that asked to stop, 0 if there was none.
int stop_signal();

}  // namespace voxshard
