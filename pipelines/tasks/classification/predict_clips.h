// Predicts the classes of videos over time by a run that was trained on clips: time lines as JSON and CSV, and drawn
// into the videos on request.
//
//   PredictReport r = predict_clips(options, {.hop = 8}, std::move(run), context);
#pragma once

#include "pipelines/tasks/classification/predict_classes.h"
#include "pipelines/tasks/classification/samples/class_preparation.h"

namespace voxshard {

/// Predicts the time lines of a video, a folder of videos, or a data set (its test part, as read_unseen_classes takes
/// it), whose classes are ignored. Writes options.output (.json) and the tables beside it (time_line_files.h). Videos
/// that cannot be read, or are shorter than a clip (E_CLIP), are left out and listed in NAME.quarantine.csv; a frame
/// that does not decode is replaced by the one before it, and `damaged` is set. A stop keeps the windows up to it.
/// Memory grows with the length of a video only by 24 bytes of index a frame and 128 bytes a window. Errors: those of
/// run_predict.
PredictReport predict_clips(const PredictOptions& options, const ClassPredictionOptions& own, TrainedRun run,
                            const std::vector<ClassPreparation>& preparations, const RunContext& context);

}  // namespace voxshard
