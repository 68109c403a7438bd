// The settings of commands for volumes: where the cases of `prepare` and `check` come from, how they are read and what
// they become; the folds and samples of `train`, and what it does with left and right; the metrics of `evaluate` on
// label maps. Those of `predict` are in volume_reading.h.
//
//   PrepareOptions options;
//   std::vector<Setting> rows = prepare_settings(options);
//   set_value(training_settings(training)[0], "2");              // training.fold
//   set_value(metric_settings(evaluation)[0], "dice,nsd,hd95");  // evaluation.metric_keys
#pragma once

#include <vector>

#include "io/volume/volume.h"
#include "pipelines/settings/setting.h"
#include "pipelines/tasks/segmentation/dataset/dataset_source.h"
#include "pipelines/tasks/segmentation/dataset/prepare_dataset.h"
#include "pipelines/tasks/segmentation/scores/evaluate_labels.h"
#include "pipelines/tasks/segmentation/volume_task.h"

namespace voxshard {

/// The source of the cases that check reads, and how it reads them.
struct CheckReading {
  DatasetSource source;
  VolumeLimits limits;
  IrregularSlices irregular = IrregularSlices::kReject;
  bool resamples_channels = false;
};

/// The rows point into `o`, which must outlive them.
std::vector<Setting> prepare_settings(PrepareOptions& o);
std::vector<Setting> check_settings(CheckReading& o);
std::vector<Setting> training_settings(VolumeTaskOptions& o);
/// Returns a sentence for each setting of samples with another value than its default that has no effect beside the
/// others.
std::vector<std::string> without_effect(const SamplingOptions& options);
/// The rows metrics, tolerance-mm, surface-convention, empty and region.
std::vector<Setting> metric_settings(EvaluateLabelsOptions& o);

}  // namespace voxshard
