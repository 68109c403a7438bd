// Progress for people, on standard error: a bar with rate and remaining time on a terminal, one plain line every few
// seconds elsewhere (log files stay short). Log lines are written at once. Also reports whether the user asked to stop.
//
//   TerminalProgress progress({.quiet = false});
//   progress.update("prepare", 3, 12, "liver_03");   // prepare [=====>        ] 3/12  1.5/s  6 s left  liver_03
#pragma once

#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "apps/terminal/pace.h"
#include "libcore/base/stopwatch.h"
#include "libcore/base/text.h"
#include "pipelines/model_runs/report.h"

namespace voxshard {

/// Warnings with a code, such as W_MASK, of which a terminal shows the first of each code and the number of the others.
class WarningFold {
 public:
  /// True when this warning is to be shown: it has no code, or one that was not shown yet, or it costs an input or an
  /// output.
  bool shows(std::string_view line);
  /// "W_MASK: 41 more warnings like it; {log} FILE keeps all of them", of each code that was shown once; they are
  /// forgotten.
  std::vector<std::string> summary();

 private:
  std::map<std::string, std::int64_t, std::less<>> seen_;  // by code
};

class TerminalProgress : public Progress {
 public:
  struct Options {
    bool quiet = false;       // neither progress nor log lines, only warnings
    double line_seconds = 5;  // between plain lines
  };
  explicit TerminalProgress(Options options);
  ~TerminalProgress() override;

  /// Shows the first line, before anything is read: "train ...". A log file gets it only for a `long_` command.
  void starting(std::string_view command, bool long_);
  /// Shows the progress of a stage. A stage that was left and comes again continues with its pace, or starts anew when
  /// less is done than before.
  void update(std::string_view stage, std::int64_t done, std::int64_t total, std::string_view text) override;
  void log(std::string_view line) override;
  void warn(std::string_view line) override;
  /// Says how many warnings were not shown, of each code; the next one of a code is shown again.
  void batch_ended() override;
  bool stop_requested() const override;
  /// Ends the bar's line, so that later output starts on a new one.
  void finish();

 private:
  void write_line(const std::string& line);
  void write_log(std::string_view line);

  Options options_;
  bool terminal_;
  std::mutex mutex_;
  Stopwatch watch_;
  std::string stage_;
  std::map<std::string, Pace, std::less<>> paces_;  // by stage
  std::optional<double> last_shown_;                // seconds
  bool on_bar_line_ = false;
  WarningFold fold_;  // on a terminal alone: files and other programs get all
};

/// "2.0 s each  18 s left"; empty while the pace is unknown.
std::string rate_text(const Pace& pace, std::int64_t total);

}  // namespace voxshard
