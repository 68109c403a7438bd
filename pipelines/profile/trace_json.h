// The profile of a run as Chrome / Perfetto trace-event JSON: one process for the wall clock with a thread per worker,
// and one for the emulated clock with threads for each core's matrix unit, vector unit, memory and links and each
// feeding host. Several ranks share one wall clock, that of rank 0, and each has a process with the number of the rank.
// Rank 0 receives the events of all ranks at the end and writes the file. Arrows lead from the send of a message to its
// arrival.
//
//   TraceFile trace({.file = "step.json", .steps = 2}, workers);
//   cores.set_trace(trace.recorder()); trace.begin_step(program); ... trace.end_step();  trace.write();
//
// Layers are named as in the graph. Names of cases, paths and values of samples never reach the file.
#pragma once

#include <filesystem>
#include <optional>

#include "io/output/output_file.h"
#include "libcore/device/device.h"
#include "libcore/ranks/rank_clock.h"
#include "libcore/runtime/trace.h"
#include "pipelines/profile/trace_events.h"

namespace voxshard {

struct TraceOptions {
  std::filesystem::path file;                 // empty: no profile
  std::int64_t steps = 2;                     // steps to record
  std::int64_t most_events = 200'000;         // per clock; further events are counted in the file, not written
  std::shared_ptr<const Device> device = {};  // if emulated, its clock is shown too
};

/// Returns the kind of its files for require_output_file: profiles of other programs do not match.
OutputKind profile_file();

class TraceFile {
 public:
  /// Tests that the file can be written, so that errors appear before the run; an existing file stays. Errors: kOutput.
  /// `transport`: to the other ranks, each of which has its own TraceFile; null: there are none.
  TraceFile(TraceOptions options, int workers, Transport* transport = nullptr);
  ~TraceFile();

  /// Null without a file.
  TraceRecorder* recorder();
  /// Prices `program` on the device for the emulated clock, once only. Errors: kConfig when the device has no such
  /// slice.
  void price(const Program& program, const OpTable& ops, const Feed& feed);
  void begin_step(const Program& program);
  /// Writes the file after the last recorded step. All ranks run the same steps.
  void end_step();
  /// Writes the events recorded so far, unless that was done; all ranks call it at the same place. Errors: kOutput.
  void write();

 private:
  struct Emulated;
  /// Returns the process of this rank, with its times shifted by `ahead_s`.
  WallProcess wall(double ahead_s) const;
  void write_file(bool with_ranks);
  void send_events(const ClockOffset& ahead);
  /// Returns each rank's description of itself.
  nlohmann::ordered_json receive_events(std::ostream& out);

  TraceOptions options_;
  Transport* transport_;  // null for one rank
  std::optional<TraceRecorder> recorder_;
  std::unique_ptr<Emulated> emulated_;
  bool written_ = false;
};

}  // namespace voxshard
