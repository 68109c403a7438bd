// The settings of `train` for label maps of volumes: folds, samples and what becomes of left and right.
//
//   VolumeTaskOptions options;
//   set_value(training_settings(options)[0], "2");                     // options.fold
#pragma once

#include "pipelines/settings/setting.h"
#include "pipelines/tasks/segmentation/volume_task.h"

namespace voxshard {

/// Returns the rows, bound to `options`.
std::vector<Setting> training_settings(VolumeTaskOptions& options);

}  // namespace voxshard
