// Progress for people, on standard error: a bar with rate and remaining time on a terminal, one plain line every few
// seconds elsewhere (log files stay short). Log lines are written at once. Knows whether the user asked to stop.
//
//   TerminalProgress progress({.quiet = false});
//   progress.update("prepare", 3, 12, "liver_03");   // prepare [=====>        ] 3/12  1.5/s  6 s left  liver_03
#pragma once

#include <mutex>
#include <string>

#include "libcore/base/stopwatch.h"
#include "libcore/base/text.h"
#include "pipelines/runs/report.h"

namespace voxshard {

class TerminalProgress : public Progress {
 public:
  struct Options {
    bool quiet = false;       // neither progress nor log lines
    double line_seconds = 5;  // between plain lines
  };
  explicit TerminalProgress(Options options);
  ~TerminalProgress() override;

  void update(std::string_view stage, std::int64_t done, std::int64_t total, std::string_view text) override;
  void log(std::string_view line) override;
  bool stop_requested() const override;
  /// Leaves the bar's line, so that what follows starts on a new one.
  void finish();

 private:
  void start_stage(std::string_view stage, std::int64_t done);
  std::string rate_text(std::int64_t done, std::int64_t total) const;

  Options options_;
  bool terminal_;
  std::mutex mutex_;
  std::string stage_;
  Stopwatch since_start_, since_shown_;
  std::int64_t first_done_ = 0;  // what was done when the stage began (a resumed run)
  std::int64_t most_done_ = 0;   // updates of several threads may arrive out of order
  bool on_bar_line_ = false;
};

/// From now on SIGINT and SIGTERM ask the run to stop at the next good place; a second one ends it at once.
void catch_stop_signals();
/// The signal that asked to stop, 0 when none did.
int stop_signal();

}  // namespace voxshard
