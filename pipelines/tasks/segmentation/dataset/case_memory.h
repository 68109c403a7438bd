// What one case takes at its widest moment, from headers alone: what decides how many are in flight, and which are
// refused before anything is allocated.
//
//   const auto hold = gate.enter(preparing_case_plan(item, plan, formats));    // or E_BUDGET with what would fit
#pragma once

#include "io/datasets/dataset.h"
#include "io/volume/volume.h"
#include "pipelines/model_runs/process_plan.h"
#include "pipelines/tasks/segmentation/dataset/prepare_plan.h"

namespace voxshard {

/// Reading image and label of a case. Nothing for files whose headers cannot be read or used: reading says why.
/// Errors: kInput E_SIZE beyond formats.limits, E_BUDGET beyond their memory_bytes.
ProcessPlan reading_case_plan(const Case& item, const VolumeFormats& formats);

/// Preparing it: the source, and each volume turned, resampled and written. Errors: as above; they name the finest
/// spacing that would fit.
ProcessPlan preparing_case_plan(const Case& item, const PreparePlan& plan, const VolumeFormats& formats);

/// Predicting one image beside what the process holds all the time, and while it predicts the core set of the image's
/// size: reading, preparing, the label map and its way back to the disk.
struct Predicting {
  ProcessPlan held;   // base, weights, plans
  ProcessPlan cores;  // arenas and what else a core set takes
};
/// Errors: kInput E_SIZE, E_BUDGET with what would fit; limits.memory_bytes is that of the process.
ProcessPlan predicting_plan(const VolumeInfo& info, const std::filesystem::path& path, const PreparePlan& plan,
                            const Predicting& process, const VolumeLimits& limits);

/// Counting a prediction against its reference; `image` only where a threshold is counted too. Files that there are
/// not, and whose headers cannot be used, are left to reading. Errors: as above.
struct Evaluated {
  std::filesystem::path reference, prediction, image;
};
ProcessPlan evaluating_case_plan(const Evaluated& files, const VolumeFormats& formats);

/// Image, reference and prediction of so many cases at once, and turned copies of one of them: an image of slices.
/// Errors: kInput E_BUDGET.
ProcessPlan image_plan(const std::vector<Evaluated>& cases, const VolumeFormats& formats);

}  // namespace voxshard
