// The settings of `prepare` and `check` for volumes: where the cases come from, how they are read, and what they
// become.
//
//   PrepareOptions options;
//   std::vector<Setting> rows = prepare_settings(options);
#pragma once

#include <vector>

#include "io/volume/volume.h"
#include "pipelines/settings/setting.h"
#include "pipelines/tasks/segmentation/dataset/dataset_source.h"
#include "pipelines/tasks/segmentation/dataset/prepare_dataset.h"

namespace voxshard {

/// The rows point into `o`, which must outlive them; so do those of check_settings().
std::vector<Setting> prepare_settings(PrepareOptions& o);

/// What check reads: where the cases come from, and how.
struct CheckReading {
  DatasetSource source;
  VolumeLimits limits;
  IrregularSlices irregular = IrregularSlices::kReject;
  bool resamples_channels = false;
};

std::vector<Setting> check_settings(CheckReading& o);

}  // namespace voxshard
