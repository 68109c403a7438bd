// The profile of a run as Chrome / Perfetto trace-event JSON: one process for the wall clock with a thread per worker,
// and one for the emulated clock with threads for each core's matrix unit, vector unit, memory and links and each
// feeding host. Of several ranks there is one wall clock, that of rank 0, and a process for each, numbered as the rank:
// what they have recorded goes to rank 0 at the end, which alone writes. Arrows lead from the send of a message to its
// arrival.
//
//   TraceFile trace({.file = "step.json", .steps = 2}, workers);
//   cores.set_trace(trace.recorder()); trace.begin_step(program); ... trace.end_step();  trace.write();
//
// Layers are named as in the graph. Names of cases, paths and values of samples never reach the file.
#pragma once

#include <filesystem>
#include <optional>

#include "io/files/output_file.h"
#include "libcore/device/device.h"
#include "libcore/ranks/rank_clock.h"
#include "libcore/runtime/trace.h"
#include "pipelines/profile/trace_events.h"

namespace voxshard {

struct TraceOptions {
  std::filesystem::path file;                 // empty: no profile
  std::int64_t steps = 2;                     // how many are recorded
  std::int64_t most_events = 200'000;         // of each clock; what is more is counted in the file, not written
  std::shared_ptr<const Device> device = {};  // whose clock is shown too, if it is an emulated one
};

/// What its files are for require_output_file: profiles of other programs are not ours.
OutputKind profile_file();

class TraceFile {
 public:
  /// Tries whether the file can be written, so that it is refused before the run; what lies there stays. Errors:
  /// kOutput. `transport`: to the other ranks, each of which has one of these; null: there are none.
  TraceFile(TraceOptions options, int workers, Transport* transport = nullptr);
  ~TraceFile();

  /// Null without a file.
  TraceRecorder* recorder();
  /// Prices `program` on the device for the emulated clock, once. Errors: kConfig when the device has no such slice.
  void price(const Program& program, const OpTable& ops, const Feed& feed);
  void begin_step(const Program& program);
  /// Writes the file once the last step was recorded. All ranks run the same steps.
  void end_step();
  /// Writes what there is, unless that was done; all ranks ask at the same place. Errors: kOutput.
  void write();

 private:
  struct Emulated;
  /// The process of this rank, its times `ahead_s` later.
  WallProcess wall(double ahead_s) const;
  void write_file(bool with_ranks);
  void send_events(const ClockOffset& ahead);
  /// Returns what each rank says of itself.
  nlohmann::ordered_json receive_events(std::ostream& out);

  TraceOptions options_;
  Transport* transport_;  // null for one rank
  std::optional<TraceRecorder> recorder_;
  std::unique_ptr<Emulated> emulated_;
  bool written_ = false;
};

}  // namespace voxshard
