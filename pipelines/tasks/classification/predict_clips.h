// Predicts the classes of videos over time by a run that was trained on clips: time lines as JSON and CSV, and drawn
// into the videos on request.
//
//   PredictReport r = predict_clips(options, {.hop = 8}, std::move(run), context);
#pragma once

#include "pipelines/tasks/classification/predict_classes.h"
#include "pipelines/tasks/classification/samples/class_preparation.h"

namespace voxshard {

/// The input is a video, a folder of them, or a data set (its test part, as read_unseen_classes takes it), whose
/// classes are not asked for. Writes options.output (.json) and the tables beside it, as time_line_files.h says. What
/// cannot be read, or is shorter than a clip (E_CLIP), is left out and listed in NAME.quarantine.csv; frames that do
/// not decode are stood in for by those before them, and `damaged` is set. A stop keeps the windows until then. Memory
/// does not grow with the length of a video but for 24 bytes of index a frame and 128 bytes a window. Errors: those of
/// run_predict.
PredictReport predict_clips(const PredictOptions& options, const ClassPredictionOptions& own, TrainedRun run,
                            const ClassPreparation& preparation, const RunContext& context);

}  // namespace voxshard
