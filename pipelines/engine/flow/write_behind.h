// Writes the outputs of an input on one thread while the network works on the next, where the plans of both together
// are within the memory of the process; otherwise they are written in the turn of their input. Files do not depend on
// it, and what is said of the input is said before anything else is: SettlingProgress waits for it.
//
//   WriteBehind behind(true, budget_bytes);
//   if (!behind.start(output)) output.end(thrown_by(output.write));     // in its own turn
//   ... the network works on the next input ...
//   if (auto written = behind.take()) written->output.end(written->failure);
#pragma once

#include <cstddef>
#include <exception>
#include <functional>
#include <optional>
#include <string>
#include <thread>

#include "libcore/base/background_thread.h"
#include "pipelines/model_runs/process_plan.h"
#include "pipelines/model_runs/report.h"

namespace voxshard {

/// The outputs of an input that was predicted.
struct OutputBehind {
  std::size_t number = 0;     // in Prediction::names()
  std::string shown_as = {};  // what is read when a library crashes; empty: the file
  ProcessPlan need = {};      // what is held until they are written, beside all that the process holds for the next
  /// Returns the plan of the turn behind this one. Empty: nothing is predicted next, or nobody knows what. Throws Error
  /// when that turn reports one.
  std::function<ProcessPlan()> next = {};
  /// Writes them, on either thread: it touches nothing that the turn of another input changes, and logs nothing.
  std::function<void()> write = {};
  /// Says what became of them, on the thread of the caller. `failure`: what write() threw, or null; it throws that.
  std::function<void(std::exception_ptr failure)> end = {};
};

/// Returns what body() throws; null: nothing.
std::exception_ptr thrown_by(const std::function<void()>& body);
/// Returns the text of an error that thrown_by() returned; not of null.
std::string error_text(const std::exception_ptr& error);

/// Threads: one caller, which is not the thread that writes.
class WriteBehind {
 public:
  ///   on          false: start() does nothing
  ///   most_bytes  of the process; 0: no limit
  WriteBehind(bool on, std::int64_t most_bytes) : on_(on), most_bytes_(most_bytes) {}
  WriteBehind(const WriteBehind&) = delete;
  WriteBehind& operator=(const WriteBehind&) = delete;

  /// Begins to write; requires that nothing is pending. False: the caller writes, since it is off, nothing comes
  /// behind, both are over the memory, or the system has no thread.
  bool start(const OutputBehind& output);
  /// True while the outputs of input `number` were not taken.
  bool is_pending(std::size_t number) const { return output_ && output_->number == number; }
  struct Written {
    OutputBehind output;
    std::exception_ptr failure;  // what write() threw, or null
  };
  /// Waits until the pending outputs are written and gives them back; nothing is pending then. None: nothing was.
  std::optional<Written> take();

  /// Returns what the pending outputs hold; nothing where there are none.
  ProcessPlan held() const { return output_ ? output_->need : ProcessPlan(); }
  /// Inputs that were written behind, and those that were not since the next did not fit beside them.
  std::size_t inputs() const { return inputs_; }
  std::size_t over_budget() const { return over_; }
  /// Seconds of writing behind, and those of take(), in which the caller waited for it.
  double seconds() const { return seconds_; }
  double waited_seconds() const { return waited_s_; }

 private:
  bool fits(const OutputBehind& output) const;

  bool on_;
  std::int64_t most_bytes_;
  std::size_t inputs_ = 0, over_ = 0;
  double seconds_ = 0;  // of the other thread until it has ended
  double waited_s_ = 0;
  std::optional<OutputBehind> output_;  // until it is taken
  BackgroundThread thread_;             // last: it ends before what it uses
};

/// Calls settle() before anything is said by the thread that made this, so that lines keep the order of the inputs.
class SettlingProgress : public Progress {
 public:
  SettlingProgress(Progress& to, std::function<void()> settle) : to_(to), settle_(std::move(settle)) {}
  void update(std::string_view stage, std::int64_t done, std::int64_t total, std::string_view text) override {
    settle(), to_.update(stage, done, total, text);
  }
  void log(std::string_view line) override { settle(), to_.log(line); }
  void warn(std::string_view line) override { settle(), to_.warn(line); }
  void batch_ended() override { settle(), to_.batch_ended(); }
  bool stop_requested() const override { return to_.stop_requested(); }

 private:
  void settle() const {
    if (std::this_thread::get_id() == owner_) settle_();
  }

  Progress& to_;
  std::function<void()> settle_;
  std::thread::id owner_ = std::this_thread::get_id();
};

}  // namespace voxshard
