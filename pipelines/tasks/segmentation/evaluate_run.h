// What TPUEstimator's evaluate says of the reference U-Net, for a run on a prepared data set: loss, accuracy,
// adaptive_dice32 and categorical cross-entropy, over batches of eval_batch_size in the order of the cases.
//
//   RunScores s = evaluate_run({.work = "work", .batch = 8}, load_trained_run({.run = "run"}), process, progress);
//   s.loss        // mean over batches of the mean over replicas
//
// As there: losses are those of each replica's part of a batch, the other three of the batch as a whole, gathered;
// accuracy and cross-entropy are means over voxels, adaptive_dice32 over batches; batches are whole, what is left of
// the data is dropped, and with `steps` the data are repeated. Norms take their running statistics. Voxels outside of a
// volume and those of the ignored label count nowhere.
#pragma once

#include <filesystem>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "libcore/metrics/voxel_scores.h"
#include "pipelines/runs/trained_run.h"

namespace voxshard {

struct EvaluateRunOptions {
  std::filesystem::path work;  // a folder that `voxshard prepare` wrote
  std::string fold = "all";    // whose held-out cases are evaluated
  Dims crop;                   // D H W around the centre; empty: whole volumes, padded to what the model takes
  std::int64_t batch = 0;      // over all replicas; 0: one sample per replica
  std::int64_t steps = 0;      // batches; 0: those that the cases fill
  int threads = 1;
  std::int64_t core_budget_bytes = 0;
  Transport* transport = nullptr;  // to the other ranks; null: all cores are in this process
};

struct BatchScores {
  std::vector<std::string> cases;
  std::vector<double> losses;  // by replica
  double adaptive_dice32 = 0;
  VoxelScores voxels;
  double loss() const;  // the mean over replicas
};

struct RunScores {
  std::filesystem::path checkpoint;
  std::int64_t step = 0;  // that it was saved at
  std::string loss_name;  // of the model
  Mesh mesh;
  std::int64_t batch = 0;
  std::vector<BatchScores> batches;
  SeenInputs seen;                   // of the cases
  std::vector<std::string> dropped;  // cases of the batch that was not whole
  double loss = 0, loss_replica_0 = 0, accuracy = 0, adaptive_dice32 = 0, cross_entropy = 0;
  double seconds = 0;
  ProcessPlan memory;
};

/// Of several ranks, which all call it, each reads its own boxes; the scores are those of rank 0 and on the others
/// none. Errors: kInput and kNoCase for the data, also when they do not fill one batch; kConfig for classes that are
/// not the model's, a crop that it does not take, a batch that its replicas cannot share; kBudget; Stopped.
RunScores evaluate_run(const EvaluateRunOptions& options, TrainedRun run, const PredictingProcess& process,
                       Progress& progress);
nlohmann::ordered_json to_json(const RunScores& scores);
std::string to_text(const RunScores& scores);

}  // namespace voxshard
