// Predicts the class of images or volumes by a trained run: probabilities as JSON and CSV; for videos time lines.
//
//   PredictReport r = predict_classes(options, {}, std::move(run), context);
#pragma once

#include "pipelines/engine/requests.h"
#include "pipelines/engine/run_context.h"
#include "pipelines/tasks/classification/dataset/class_kind.h"

namespace voxshard {

struct ClassPredictionOptions {
  std::int64_t most_pixels = std::int64_t{1} << 27;  // as kMostPixels
  VolumeLimits volume_limits = {};
  IrregularSlices irregular = IrregularSlices::kReject;  // of volumes
  bool best_series = true;                               // as in ClassReading
  bool keep_names = false;                               // items in folders are called by their paths
  std::optional<std::int64_t> hop;  // for videos: frames from one window to the next; none: the span of a clip
  ClassKinds kinds = class_kinds();
  std::filesystem::path draw;  // for a video the video to write, for a folder or data set a folder; empty: none
};

/// Predicts all items of the input; a run trained on clips predicts as described in predict_clips.h. For other runs the
/// input is an image or volume, a folder of them, or a data set (its test part, as read_unseen_classes takes it), whose
/// classes are ignored. Writes options.output (.json), and the same as CSV beside it. Items that cannot be read are
/// left out and listed in NAME.quarantine.csv. Errors: those of run_predict.
PredictReport predict_classes(const PredictOptions& options, const ClassPredictionOptions& own, TrainedRun run,
                              const RunContext& context);

}  // namespace voxshard
