// Predicts label maps of whole volumes by a trained run, in the geometry of their files. Memory is planned for every
// volume before the first one is predicted.
//
//   PredictReport r = predict_volumes({.input = "imagesTs", .output = "predictions"}, run, context);
#pragma once

#include "pipelines/engine/requests.h"
#include "pipelines/engine/run_context.h"

namespace voxshard {

/// Predicts options.input, an image or a folder of images (nnU-Net's _0000 names or any other; with several channels
/// _0000, _0001 or one 4-D file a case), into CASE.nii.gz files in the folder options.output. Errors: kUsage when the
/// output folder is that of the images, kInput, kNoCase (no image, or all failed), kCheckpoint, kBudget (before
/// anything is allocated or written), kOutput.
PredictReport predict_volumes(const PredictOptions& options, TrainedRun run, const RunContext& context);

}  // namespace voxshard
