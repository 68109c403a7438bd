// Reads the next input of a batch on one thread while the network works on the one before, where the plans of both
// together are within the memory of the process; otherwise the input is read in its own turn, as it is when reading it
// ahead fails: only its own turn reports errors. Outputs do not depend on it.
//
//   ReadAhead ahead(true, budget_bytes);
//   ahead.start({.number = 1, .plan = plan, .read = read, .release = release}, plan_of_input_0);
//   ... the network works on input 0 ...
//   if (!ahead.take(1)) read_it_now();
#pragma once

#include <atomic>
#include <cstddef>
#include <functional>
#include <mutex>
#include <optional>
#include <string>

#include "libcore/base/background_thread.h"
#include "libcore/base/stop.h"
#include "pipelines/model_runs/process_plan.h"

namespace voxshard {

/// The input that is read ahead. All functions but release() run on the other thread: they touch nothing that the turn
/// of another input changes, and log nothing.
struct InputAhead {
  std::size_t number = 0;     // in Prediction::names()
  std::string shown_as = {};  // what is read when a library crashes; empty: the file
  /// Returns the memory of reading and preparing the input and of what remains of it until it is taken, from headers
  /// alone. Throws when the input is to be read in its own turn.
  std::function<ProcessPlan()> plan = {};
  /// Reads it. `dropped` is true once nobody wants it anymore: then it throws Stopped as soon as it can.
  std::function<void(const StopCheck& dropped)> read = {};
  std::function<void()> release = {};  // frees what read() has made, however far it came
};

/// Threads: one caller, which is not the thread that reads.
class ReadAhead {
 public:
  ///   on          false: start() does nothing
  ///   most_bytes  of the process; 0: no limit
  ReadAhead(bool on, std::int64_t most_bytes) : on_(on), most_bytes_(most_bytes) {}
  ReadAhead(const ReadAhead&) = delete;
  ReadAhead& operator=(const ReadAhead&) = delete;

  /// Begins to read an input, once an earlier one is dropped that was not taken.
  ///   beside  the plan of what the process does meanwhile, all that it holds included
  void start(InputAhead input, const ProcessPlan& beside);
  /// Waits until input `number` is read, and returns true when it is: what read() made then belongs to the caller.
  /// False: it is not read ahead, did not fit, or failed, and nothing of it is held.
  bool take(std::size_t number);
  /// Drops the input that is being read, or was, and waits until it is released.
  void drop();
  /// Drops what is read ahead where it does not fit beside the most that a step of the turn of input `now` may take.
  void leave_room(const ProcessPlan& most, std::size_t now);
  /// The same for a plan of that turn, which is noted: with what is read ahead it may be the widest.
  void give_way(const ProcessPlan& plan, std::size_t now);

  /// Returns the plan of what is read ahead, once it was admitted; nothing where nothing is.
  ProcessPlan held() const;
  /// Returns the plans that were held at once at the peak; nothing where no input was read ahead.
  ProcessPlan widest() const;
  /// Inputs that were read ahead, and those that did not fit beside the one before.
  std::size_t inputs() const { return inputs_; }
  std::size_t over_budget() const { return over_; }

 private:
  enum class State { kPlanning, kReading, kRead, kOver, kFailed };
  void work();
  bool admit(const ProcessPlan& need);
  bool fit(const ProcessPlan& plan, const ProcessPlan& need) const;
  void forget();

  bool on_;
  std::int64_t most_bytes_;
  std::size_t inputs_ = 0, over_ = 0;
  std::optional<InputAhead> input_;  // until it is taken or dropped
  std::atomic<bool> dropped_ = false;
  mutable std::mutex mutex_;
  State state_ = State::kPlanning;  // of the input; this and what follows under the mutex
  ProcessPlan need_;                // once it is admitted
  ProcessPlan beside_, widest_;
  BackgroundThread thread_;  // last: it ends before what it uses
};

}  // namespace voxshard
