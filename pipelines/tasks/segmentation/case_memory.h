// What one case takes at its peak, from headers alone: what decides how many are in flight, and which are refused
// before anything is allocated.
//
//   const auto hold = gate.enter(preparing_case_bytes(item, plan, formats));    // or E_SIZE with the spacing that
//   would fit
#pragma once

#include "io/datasets/dataset.h"
#include "io/volume/volume.h"
#include "pipelines/tasks/segmentation/prepare_plan.h"

namespace voxshard {

/// Reading image and label of a case. 0 for files whose headers cannot be read or used: reading says why.
/// Errors: kInput E_SIZE beyond formats.limits.
std::int64_t reading_case_bytes(const Case& item, const VolumeFormats& formats);

/// Preparing it: the source, and each volume reoriented and resampled. Errors: as above; E_SIZE names the finest
/// spacing that would fit.
std::int64_t preparing_case_bytes(const Case& item, const PreparePlan& plan, const VolumeFormats& formats);

/// Predicting one image whose plan takes `plan_bytes`: reading, preparing, the label map and its way back beside the
/// plan. Errors: kInput E_SIZE with what would fit.
std::int64_t predicting_bytes(const VolumeInfo& info, const std::filesystem::path& path, const PreparePlan& plan,
                              std::int64_t plan_bytes, const VolumeLimits& limits);

}  // namespace voxshard
