// One training: what it holds while it goes, and how it goes. run_train() makes it once the data and the folder are
// known. Over several ranks each of them has one, which runs the same steps on its own cores; what depends on a clock,
// a signal or a file is decided by rank 0 (steps that take a time, the score, which checkpoint) or by all (a stop).
//
//   return TrainingRun(options, records, folder, std::move(task), transport, progress).go();
#pragma once

#include <memory>
#include <nlohmann/json.hpp>

#include "libcore/train/trainer.h"
#include "pipelines/engine/host_memory.h"
#include "pipelines/training/run_folder.h"

namespace voxshard {

class TrainingRun {
 public:
  /// Plans; nothing of the plan is allocated. `host`: from before the data were read. Errors: kBudget, kConfig.
  TrainingRun(TrainOptions& options, const RecordFormat& records, RunFolder& folder, std::unique_ptr<TrainingTask> task,
              const HostMemory& host, Transport& transport, Progress& progress);
  /// Errors: those of run_train().
  TrainReport go();

 private:
  using Json = nlohmann::ordered_json;

  void choose_plan();
  /// Errors: Stopped; what was done until then is whole.
  void steps();
  StepResult one_step();
  /// Whether a loop (iterations_per_loop) is over.
  bool loop_ends(std::int64_t done, double seconds);
  /// Errors: Stopped, before anything of it is kept.
  void validate();
  /// The validation that a stop cut short, of the step that was resumed from; its row is written now.
  void validate_again();
  std::string text_of(const StepResult& result) const;

  /// Only a run that can start may throw an earlier one away.
  void open_folder();
  void restore();
  /// On rank 0. Errors: kCheckpoint, kConfig for a run of other options or data.
  void require_same(const ValidCheckpoint& found);
  /// On rank 0, of a run that goes on.
  void take_up(const CheckpointState& theirs);
  void save();
  /// run.json: at the start with what the run is, for those who resume it; at the end also with how it went.
  void write_report(bool ended) const;
  void describe() const;

  TrainOptions& o_;
  RecordFormat records_;
  RunFolder& folder_;
  Transport& transport_;
  Progress& progress_;
  std::unique_ptr<TrainingTask> task_;
  WorkerPool pool_;
  Shape extents_;  // the largest of any step
  std::optional<TraceFile> trace_;
  std::unique_ptr<Session> session_;
  std::unique_ptr<Trainer> trainer_;
  std::optional<SampleFeed> feed_;
  CheckpointState state_;
  TrainReport report_;
  Json memory_;
  HostMemory host_;
  ProcessPlan memory_plan_;
  bool saved_ = false;         // a checkpoint was written
  bool data_changed_ = false;  // since the checkpoint that this call began with, as was accepted
};

}  // namespace voxshard
