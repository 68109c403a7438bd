// Segmentation of prepared volumes as a training task: crops or whole volumes of a fold, validated by the first metric
// of a table, Dice, on the whole volumes that are held out.
//
//   auto task = volume_task({.work = "work", .fold = "0", .sampling = {.crop = {64, 64, 64}}});
#pragma once

#include <memory>

#include "libcore/metrics/overlap_metrics.h"
#include "pipelines/engine/requests.h"
#include "pipelines/tasks/segmentation/samples/sample_source.h"
#include "pipelines/tasks/segmentation/sides/side_fit.h"
#include "pipelines/tasks/training_task.h"

namespace voxshard {

struct VolumeTaskOptions {
  std::filesystem::path work;  // a folder that `voxshard prepare` wrote
  std::string fold = "0";      // of 5 (fewer with few cases), or "all": no validation
  SamplingOptions sampling = {.crop = {64, 64, 64}};
  std::vector<KeptSplit> kept = {};            // by fold, see TrainingData
  bool accepts_changes = false;                // true: damaged cases are left out
  OverlapMetrics metrics = overlap_metrics();  // validation uses the first
  Sides sides = Sides::kKeep;                  // what becomes of classes that differ in their side alone
};

/// Returns the indices of the cases that a fold holds out; for "all", of all cases. Errors: kConfig.
std::vector<std::size_t> evaluated_cases(const PreparedDataset& dataset, const std::string& fold);

/// Makes the training task. Errors: kInput, kNoCase; kConfig for a fold that does not exist.
std::unique_ptr<TrainingTask> volume_task(const VolumeTaskOptions& options);

}  // namespace voxshard
