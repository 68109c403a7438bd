// Label maps for whole volumes by a trained run, in the geometry of their files. What it needs is planned for every
// volume before the first is predicted.
//
//   PredictReport r = predict_volumes({.input = "imagesTs", .output = "predictions"}, run, context);
#pragma once

#include "pipelines/engine/requests.h"
#include "pipelines/engine/run_context.h"

namespace voxshard {

/// `input` is an image or a folder of images (nnU-Net's _0000 names or any), `output` a folder that gets CASE.nii.gz.
/// Errors: kUsage when the output folder is that of the images, kInput, kNoCase (no image, or every one failed),
/// kCheckpoint, kBudget (before anything is allocated or written), kOutput.
PredictReport predict_volumes(const PredictOptions& options, TrainedRun run, const RunContext& context);

}  // namespace voxshard
