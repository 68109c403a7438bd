// Several trained runs whose class probabilities are averaged, as nnU-Net averages its folds: one TrainedRun that holds
// the others. Their order is that of the hashes of their checkpoints, whatever order they were given in, so that sums
// of their probabilities have the same bits. A run that was given twice is there once and counts twice.
//
//   TrainedRun run = load_averaged_runs({.run = "fold_0"}, {"fold_1", "fold_2"});
//   require_agreement(run, "classes", [](const TrainedRun& one) { return classes_text(one); });
//   for (const AveragedRun& one : averaged_runs_of(run)) ...
#pragma once

#include <functional>

#include "pipelines/model_runs/trained_run.h"

namespace voxshard {

/// Loads options.run and further runs; all ranks call it. The result is the first of them in their order and was
/// trained on what any of them was trained on. A run alone is loaded as load_trained_run() does.
/// Errors: those of load_trained_run(); kUsage, before any is loaded, for a further path that is no run.
TrainedRun load_averaged_runs(const TrainedRunOptions& options, const std::vector<std::filesystem::path>& further);

/// Calls `use` with the run and then with each of its others.
void for_each_run(TrainedRun& run, const std::function<void(TrainedRun& one)>& use);

/// Throws kUsage, naming two runs, when a fact of the runs of an average differs.
///   what  "channels"
///   fact  returns the fact of a run as text: "CT, PET"
void require_agreement(const TrainedRun& run, const std::string& what,
                       const std::function<std::string(const TrainedRun& one)>& fact);

/// One of the runs of an average, for reports.
struct AveragedRun {
  std::filesystem::path checkpoint;
  std::string hash;        // of that file
  std::string weights;     // as in TrainedRun
  std::int64_t times = 1;  // how often it was given
};
/// Returns the runs of an average in their order; empty for a run alone.
std::vector<AveragedRun> averaged_runs_of(const TrainedRun& run);
nlohmann::ordered_json to_json(const std::vector<AveragedRun>& runs);
/// Lists them in FOLDER/averaged_runs.json; a list of an earlier call goes where none are. Errors: kOutput.
void write_averaged_runs(const std::filesystem::path& folder, const std::vector<AveragedRun>& runs);

}  // namespace voxshard
