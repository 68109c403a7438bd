// One training: its state and its sequence. run_train() makes it once the data and the folder are known. With several
// ranks each has one, which runs the same steps on its own cores. Decisions that depend on a clock, a signal or a file
// are made by rank 0 (the length of a loop given as a time, the score, the checkpoint) or by all together (a stop).
//
//   return TrainingRun(options, records, folder, std::move(task), context).go();
#pragma once

#include <functional>
#include <memory>
#include <nlohmann/json.hpp>

#include "libcore/base/stopwatch.h"
#include "libcore/train/trainer.h"
#include "pipelines/model_runs/trained_on.h"
#include "pipelines/training/run_folder.h"

namespace voxshard {

class TrainingRun {
 public:
  /// Plans the run without allocating the plan's memory. `host`: taken before the data were read. Errors: kBudget,
  /// kConfig.
  TrainingRun(TrainOptions& options, const RecordFormat& records, RunFolder& folder, std::unique_ptr<TrainingTask> task,
              const RunContext& context);
  ///   held_out  gets the keys of what validates, on rank 0 (CaseHashes::held_out); null: they are not asked for
  ///   measured  the plan of the runs that were measured before in this process; part of the report
  /// Errors: those of run_train().
  TrainReport go(TrainedOn* held_out = nullptr, const ProcessPlan& measured = {});

  struct Measured {
    double step_s = 0;  // of samples of the mean size, loading included
    ProcessPlan plan;
    std::unique_ptr<TrainingTask> task;
  };
  /// Runs some steps for about `about_s` seconds, and forgets them with this object: a run that is made afterwards
  /// begins anew, with the task that is returned. All ranks measure together; what rank 0 measured counts. Errors:
  /// those of a step; Stopped.
  Measured measure(double about_s) &&;

 private:
  using Json = nlohmann::ordered_json;

  Footprint plan_memory();
  void choose_plan();
  /// Takes the weights of another run; a run that goes on has them in its checkpoint. Returns the description for
  /// run.json, null without such a run. Errors: kCheckpoint, kInput, kConfig when nothing fits.
  nlohmann::json begin_from();
  /// Runs the steps. Errors: Stopped; all steps done until then are complete.
  void steps();
  StepResult one_step();
  /// True when a checkpoint is due at the end of a loop. Rank 0, the only one that writes them, goes by its clock; the
  /// others need not agree, since saving takes no part in what the ranks exchange.
  bool checkpoint_is_due(std::int64_t looked_at, std::int64_t done) const;
  /// True when a loop (iterations_per_loop) is over.
  bool loop_ends(std::int64_t done, double seconds);
  /// Validates the weights and, where there is one, their average; keeps the checkpoint if either has the best score.
  /// Errors: Stopped, before any result is kept.
  void validate();
  /// What the validations of a step found beside their scores; null where the task has nothing.
  struct DetailsForPage {
    nlohmann::ordered_json last, averaged;
  };
  /// Takes slices and details out of the validations of the step, and writes what the page shows of the last weights.
  DetailsForPage store_for_page(std::int64_t step, Validation& last);
  /// Validates the weights that the session has, and keeps slices of so many cases.
  Validation validation(std::int64_t slices);
  /// Validates the averaged weights, which take the place of the session's for that time.
  Validation validation_of_average();
  bool keeps_average() const { return o_.optimizer.ema > 0; }
  /// The column names of results.csv, those of the scores by class last; of too many classes it has none.
  std::vector<std::string> columns();
  /// The scores of the last validation, for results.csv; NaN when there was none.
  std::vector<CsvField> scores(bool validated) const;
  /// Repeats the validation that a stop interrupted, for the step of the resumed checkpoint, and writes its row.
  void validate_again();
  std::string text_of(const StepResult& result) const;

  /// Opens the folder. Only a run that can start may remove an earlier one.
  void open_folder(TrainedOn* held_out);
  void restore();
  /// Checks the checkpoint of a resumed run, on rank 0. Errors: kCheckpoint, kConfig for a run of other options or
  /// data.
  void require_same(const ValidCheckpoint& found);
  /// Ends a run before its last step: its weights are validated, as after a last step, and saved.
  void end_early();
  /// Takes over the history of a resumed run, on rank 0.
  void take_up(const CheckpointState& theirs);
  void save();
  /// Writes run.json: at the start with the description of the run, for resuming it; at the end also with its results.
  void write_report(bool ended) const;
  /// Writes the page of the run (report_page) from its files. A page that cannot be written is warned about and ends no
  /// training. The core set is released or about to be planned anew, so the page takes none of the planned memory.
  void write_page() const;
  /// Writes something of the page; a failure is warned about.
  void for_page(const std::function<void()>& write) const;
  void describe() const;

  TrainOptions& o_;
  RecordFormat records_;
  RunFolder& folder_;
  const RunContext& context_;
  Transport& transport_;
  Progress& progress_;
  std::unique_ptr<TrainingTask> task_;
  Shape extents_;  // the largest of any step
  std::optional<TraceFile> trace_;
  std::unique_ptr<Session> session_;
  std::unique_ptr<Trainer> trainer_;
  std::optional<SampleFeed> feed_;
  CheckpointState state_;
  TrainReport report_;
  double points_ = 0;                          // voxels or pixels of the steps that are measured
  std::size_t class_columns_ = 0;              // of results.csv
  TrainedOn before_;                           // the data that the weights were trained on with which the run began
  std::vector<std::string> notes_, warnings_;  // about the plan and the first weights, said when the run begins
  Json memory_;
  ProcessPlan memory_plan_;
  Stopwatch since_saved_;      // since the last checkpoint, or the first step
  bool saved_ = false;         // a checkpoint was written
  bool ends_early_ = false;    // the resumed run has no step left, because it was given fewer
  bool data_changed_ = false;  // since the checkpoint that this call began with; the change was accepted
};

}  // namespace voxshard
