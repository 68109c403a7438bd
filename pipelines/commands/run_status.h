// `voxshard status`: what the training of a run folder is doing, from the files in it alone, on any machine that sees
// the folder: while the training runs, after it ended and after it was killed.
//
//   StatusReport r = run_status("run");   // {.state = RunState::kRunning, .judged_by = "lock", .step = 420, ...}
#pragma once

#include "pipelines/model_runs/run_metrics.h"

namespace voxshard {

enum class RunState {
  kFinished,  // all steps are done, and the results are written
  kRunning,
  kStopped,  // by a signal: everything is saved
  kDead,     // it ended without its results: killed, or by an error
  kSilent,   // nothing is known but that no line came for longer than expected
};
/// "finished", "running", "stopped", "dead", "silent".
const char* state_name(RunState state);

struct StatusReport {
  std::filesystem::path run;
  RunState state = RunState::kSilent;
  // What the state follows from: "lock" (a process holds the folder, or none of the writer's host does), "report" (the
  // results in run.json), "age" (of the last line: nothing else can be known from here).
  const char* judged_by = "age";
  std::int64_t process = 0;  // that writes, or wrote when it was killed; 0: none is known
  std::string command = {}, host = {};
  std::int64_t ranks = 1;            // rank 0 of them writes
  std::int64_t step = 0, steps = 0;  // done, of all
  RecentMetrics recent = {};
  std::optional<double> age_s = {};                  // of the last line, by the clock of this machine
  std::optional<std::int64_t> checkpoint_step = {};  // with which a run that ended goes on; none before the first
  std::optional<double> best_score = {};             // of the validations until that checkpoint

  /// Returns the time that the remaining steps take; none where nothing is known.
  std::optional<double> remaining_s() const { return recent.seconds_of(steps - step); }
};

/// Errors: kInput when the folder holds no run, or a file of it is damaged.
StatusReport run_status(const std::filesystem::path& run);
nlohmann::ordered_json to_json(const StatusReport& report);
std::string to_text(const StatusReport& report);

/// Returns the time without a line after which a run that cannot be seen is called silent.
double longest_silence_s(const RecentMetrics& recent);

}  // namespace voxshard
