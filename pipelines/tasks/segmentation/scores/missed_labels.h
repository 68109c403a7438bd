// The classes that predicted label maps miss, in words.
//
//   missed_text(missed_classes(evaluate_labels(options, context)))    // "missed: Cord: dice 0.000 in 3 of 3 cases\n"
#pragma once

#include "pipelines/model_runs/missed_classes.h"
#include "pipelines/tasks/segmentation/scores/evaluate_labels.h"

namespace voxshard {

/// Returns a sentence for each class and region that is missed in some case by the first metric; none when this is a
/// volume or a distance, or one of which lower is better.
std::vector<std::string> missed_classes(const LabelScores& scores);

}  // namespace voxshard
