// The output folder of a training: run.json, results.csv, validations.csv, metrics, the checkpoints. Rank 0 writes; the
// other ranks make the same calls at the same places, write nothing and get the state of the folder from rank 0. All
// ranks see the same file system.
//
//   RunFolder folder(options, transport);
//   folder.require_startable();
//   folder.start(content_hash(...));  folder.write("run.json", json);  folder.row({...});  folder.save_last(...);
#pragma once

#include <nlohmann/json.hpp>
#include <optional>

#include "io/files/csv.h"
#include "io/output/output_folder.h"
#include "libcore/ranks/transport.h"
#include "pipelines/model_runs/checkpoint_folder.h"
#include "pipelines/training/metrics_log.h"
#include "pipelines/training/run_train.h"

namespace voxshard {

class RunFolder {
 public:
  /// Takes the folder, unless another process has it. Errors: those of OutputFolder.
  RunFolder(const TrainOptions& options, Transport& transport);

  /// True on rank 0, the only rank that writes.
  bool writes() const { return folder_.has_value(); }
  /// True when the run in the folder is resumed from a checkpoint.
  bool goes_on() const { return goes_on_; }
  /// Checks that the run may start. Errors: kUsage when the folder holds a run and neither resume nor restart was
  /// given, kCheckpoint for a run that lost its checkpoints.
  void require_startable() const;

  /// Marks the contents of the folder as belonging to this run from here on. `options`: a hash of the options of the
  /// run.
  void start(const std::string& options);
  /// True when there is a checkpoint. For rank 0.
  bool holds_checkpoint() const { return checkpoints_.holds_run(); }
  /// Removes the files of an earlier run, unless that run is resumed (`resume`).
  void clear(bool resume);

  /// Removes what an earlier state of the run predicted of what it held out.
  void remove_held_out() const;

  void write(const std::string& name, const nlohmann::ordered_json& json) const;
  /// Opens results.csv for rows after those of the first steps, and the metrics likewise.
  void begin_rows(const std::vector<std::string>& columns, const MetricsBegin& begin);
  void row(const std::vector<CsvField>& fields);
  /// Does the same for validations.csv.
  void begin_validations(const std::string& metric, std::int64_t steps_done);
  void validation(std::int64_t step, const std::string& weights, const Validation& validation);
  void add(const StepMetrics& metrics);
  void add(const ValidationMetrics& metrics);
  /// Writes slices.json, the slices of the last validation; null: there are none, and older ones go.
  void slices(std::int64_t step, const nlohmann::ordered_json& cases) const;

  /// Write last_validation.json and best_validation.json, what these validations found beside their scores; null: there
  /// is nothing, and an older file goes.
  ///   averaged  true: the best validation is one of the averaged weights
  void last_detail(std::int64_t step, const nlohmann::ordered_json& detail) const;
  void best_detail(std::int64_t step, bool averaged, const nlohmann::ordered_json& detail) const;

  void save_last(const CheckpointState& state, const Parameters& parameters, const Parameters& optimizer,
                 const Parameters& averages);
  void save_best(const CheckpointState& state, const Parameters& parameters, const Parameters& averages) const;
  /// Returns the newest complete checkpoint, as found by rank 0, on all ranks; nullopt before the first was written.
  /// Errors: kCheckpoint, kInput when none of them can be used, or when ranks read different ones.
  std::optional<ValidCheckpoint> load_newest();

 private:
  void write_detail(const char* file, std::int64_t step, const char* weights,
                    const nlohmann::ordered_json& detail) const;

  std::filesystem::path run_;
  bool resume_, restart_;
  Transport& transport_;
  CheckpointFolder checkpoints_;
  bool goes_on_;
  std::optional<OutputFolder> folder_;
  std::optional<CsvWriter> rows_, validations_;
  std::optional<MetricsLog> metrics_;
};

}  // namespace voxshard
