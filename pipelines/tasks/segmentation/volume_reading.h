// How commands on volumes read their files: limits, and what becomes of irregular series.
//
//   for (Setting& row : prediction_settings(options.of<VolumeReading>())) ...
#pragma once

#include <vector>

#include "io/volume/volume.h"
#include "pipelines/engine/requests.h"

namespace voxshard {

/// How predict reads volumes.
struct VolumeReading {
  VolumeLimits limits;
  IrregularSlices irregular = IrregularSlices::kReject;
};

/// Returns the settings of the limits, the same for check, prepare and predict.
std::vector<Setting> limit_settings(VolumeLimits& limits);
std::vector<Setting> prediction_settings(VolumeReading& reading);

}  // namespace voxshard
