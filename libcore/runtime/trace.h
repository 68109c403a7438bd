// Records the timeline of each worker for a profile: one event per task, copy, join, fill and reordering of weights.
//
//   TraceRecorder recorder({.workers = 2, .most_steps = 2});
//   cores.set_trace(&recorder);
//   recorder.begin_step(cores.executable().program);  cores.run();  recorder.end_step();
//
// Without a recorder a core set pays one comparison with null per task. With one, each worker writes to its own memory,
// reserved beforehand; events that do not fit are counted, not kept. Threads: add() from worker threads, each with its
// own number; everything else from the thread that runs the steps.
#pragma once

#include <string>
#include <vector>

#include "libcore/base/stopwatch.h"
#include "libcore/partition/program.h"

namespace voxshard {

enum class TraceKind : std::uint8_t {
  kTask,
  kJoin,
  kFillMargin,
  kExchange,  // a copy between cores of this rank, or packing for another rank
  kPack,
  kSend,     // a message of an exchange to another rank begins
  kReceive,  // a message that has arrived is unpacked
  kWait,     // idle until messages of other ranks arrive
};

struct TraceEvent {
  double begin_s = 0, end_s = 0;  // since the recorder was made
  std::int64_t bytes = 0;         // read and written by a task, copied, added, filled
  std::int32_t step = 0;          // from 0
  std::int32_t program = 0;       // index in programs()
  std::int32_t instruction = 0;
  std::int32_t core = -1;  // -1: belongs to no core, done once per process
  std::int32_t worker = 0;
  std::int32_t peer = -1;  // for messages: the other rank
  TraceKind kind = TraceKind::kTask;
};

/// The names of an event's instruction; they come from the graph and reveal nothing of the data.
struct TraceInstruction {
  std::string layer, op;
};

struct TraceStep {
  double begin_s = 0, end_s = 0;
  std::int32_t program = 0;
};

class TraceRecorder {
 public:
  struct Options {
    int workers = 1;
    std::int64_t most_steps = 2;
    std::int64_t most_events = 200'000;  // of all workers together; 56 bytes each
  };
  explicit TraceRecorder(const Options& options);

  /// Begins a step of `program`; once most_steps are recorded, the step and its events are ignored.
  void begin_step(const Program& program);
  void end_step();
  /// True during a step that is being recorded.
  bool active() const { return active_; }
  /// True when no further step will be recorded.
  bool done() const { return static_cast<std::int64_t>(steps_.size()) >= options_.most_steps && !active_; }

  double now_s() const { return since_made_.seconds(); }
  /// Sets worker, step and program of the event and keeps it, if there is room.
  void add(int worker, TraceEvent event);

  const Options& options() const { return options_; }
  const std::vector<TraceStep>& steps() const { return steps_; }
  /// Per program, per instruction.
  const std::vector<std::vector<TraceInstruction>>& programs() const { return programs_; }
  /// The events of one worker in order of time.
  const std::vector<TraceEvent>& events(int worker) const { return events_[worker]; }
  std::int64_t dropped() const;

 private:
  Options options_;
  Stopwatch since_made_;
  bool active_ = false;
  std::vector<TraceStep> steps_;
  std::vector<const Program*> known_;  // as programs_
  std::vector<std::vector<TraceInstruction>> programs_;
  std::vector<std::vector<TraceEvent>> events_;  // per worker
  std::vector<std::int64_t> dropped_;            // per worker
};

/// Adds an event that lasts from its construction to its destruction, unless `recorder` is null.
class TraceSpan {
 public:
  TraceSpan(TraceRecorder* recorder, int worker, TraceKind kind, std::size_t instruction, std::int64_t core,
            std::int64_t bytes, int peer = -1)
      : recorder_(recorder), worker_(worker) {
    if (recorder_ == nullptr) return;
    event_ = {.begin_s = recorder_->now_s(),
              .bytes = bytes,
              .instruction = static_cast<std::int32_t>(instruction),
              .core = static_cast<std::int32_t>(core),
              .peer = peer,
              .kind = kind};
  }
  ~TraceSpan() {
    if (recorder_ == nullptr) return;
    event_.end_s = recorder_->now_s();
    recorder_->add(worker_, event_);
  }
  TraceSpan(const TraceSpan&) = delete;
  TraceSpan& operator=(const TraceSpan&) = delete;

 private:
  TraceRecorder* recorder_;
  int worker_;
  TraceEvent event_;
};

}  // namespace voxshard
