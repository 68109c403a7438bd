// The command that is suggested after a prediction of detections: the scores where the input has annotations, else one
// that shows the results.
#pragma once

#include <string>
#include <vector>

#include "pipelines/tasks/detection/predict_detections.h"

namespace voxshard {

/// Returns the words as in TaskReport::next.
std::vector<std::string> next_of_detections(const PredictOptions& options, const DetectionPrediction& detection);

}  // namespace voxshard
