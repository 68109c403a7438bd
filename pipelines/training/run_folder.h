// What a training leaves in its folder: run.json, results.csv, the checkpoints. Rank 0 writes; the other ranks of the
// run, whose calls come at the same places, write nothing and learn from rank 0 what the folder holds. All see the
// same file system.
//
//   RunFolder folder(options, transport);
//   folder.require_startable();
//   folder.start(content_hash(...));  folder.write("run.json", json);  folder.row({...});  folder.save_last(...);
#pragma once

#include <nlohmann/json.hpp>
#include <optional>

#include "io/files/csv.h"
#include "io/files/output_folder.h"
#include "libcore/ranks/transport.h"
#include "pipelines/model_runs/checkpoint_folder.h"
#include "pipelines/training/run_train.h"

namespace voxshard {

class RunFolder {
 public:
  /// Takes the folder, unless others have it. Errors: those of OutputFolder.
  RunFolder(const TrainOptions& options, Transport& transport);

  /// Whether this process writes: that of rank 0.
  bool writes() const { return folder_.has_value(); }
  /// Whether a run in it goes on from a checkpoint.
  bool goes_on() const { return goes_on_; }
  /// Errors: kUsage for a run in it that nobody mentioned, kCheckpoint for one that lost its checkpoints.
  void require_startable() const;

  /// From here on what is in the folder is this run's. `options`: a hash of what it is made with.
  void start(const std::string& options);
  /// Whether there is a checkpoint. For rank 0.
  bool holds_checkpoint() const { return checkpoints_.holds_run(); }
  /// Throws away what an earlier run left, unless a run goes on (`resume`).
  void clear(bool resume);

  void write(const std::string& name, const nlohmann::ordered_json& json) const;
  /// Of results.csv, behind the rows of the `steps_done` first steps.
  void begin_rows(const std::vector<std::string>& columns, std::int64_t steps_done);
  void row(const std::vector<CsvField>& fields);

  void save_last(const CheckpointState& state, const Parameters& parameters, const Parameters& optimizer);
  void save_best(const CheckpointState& state, const Parameters& parameters) const;
  /// The newest checkpoint that is whole, as rank 0 finds it, on all ranks; none before the first was written. Errors:
  /// kCheckpoint, kInput when none of them can be used, or when ranks read different ones.
  std::optional<ValidCheckpoint> load_newest();

 private:
  std::filesystem::path run_;
  bool resume_, restart_;
  Transport& transport_;
  CheckpointFolder checkpoints_;
  bool goes_on_;
  std::optional<OutputFolder> folder_;
  std::optional<CsvWriter> rows_;
};

}  // namespace voxshard
