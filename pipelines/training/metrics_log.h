// The log that a training writes about its steps as they happen, for those who watch it: metrics.jsonl
// (pipelines/model_runs/run_metrics.h) and one event file for TensorBoard with the same numbers. Both are always
// written: a run that began without them could not be looked at afterwards, and a step takes some 150 bytes in each.
//
//   MetricsLog log(run, {.steps_done = 120});       // keeps what is known of the first 120 steps
//   log.add(StepMetrics{...});  log.add(ValidationMetrics{...});
#pragma once

#include <filesystem>

#include "pipelines/model_runs/run_metrics.h"

namespace voxshard {

struct MetricsBegin {
  std::int64_t steps_done = 0;   // lines of later steps go: the checkpoint knows nothing of them
  bool validates_again = false;  // the validation after these steps has not ended: its line goes too
};

class MetricsLog {
 public:
  /// Truncates metrics.jsonl, and writes the event file anew from what is kept: TensorBoard's form has no way to take
  /// back a step. Errors: kOutput; kInput when metrics.jsonl is another file.
  MetricsLog(std::filesystem::path run, const MetricsBegin& begin);

  /// Append a line and an event, with the time of now. Errors: kOutput.
  void add(StepMetrics metrics);
  void add(ValidationMetrics metrics);

  /// Removes what an earlier run wrote.
  static void remove(const std::filesystem::path& run);

 private:
  template <class Metrics>
  void append(Metrics metrics);

  std::filesystem::path lines_, events_;
};

}  // namespace voxshard
