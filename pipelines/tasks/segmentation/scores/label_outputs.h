// The files that `evaluate` writes of label maps: nnU-Net's summary.json, and the image of slices.
//
//   write_label_outputs(options, pairs, report, dataset->label_names, gate);
#pragma once

#include "pipelines/engine/flow/memory_gate.h"
#include "pipelines/tasks/segmentation/scores/evaluate_labels.h"
#include "pipelines/tasks/segmentation/scores/label_pairs.h"

namespace voxshard {

/// Writes the files that `options` names. Errors: kInput when the data set has no image of these cases; kBudget;
/// kOutput.
///   names  of the classes, for the image; may be empty
void write_label_outputs(const EvaluateLabelsOptions& options, const std::vector<LabelPair>& pairs,
                         const LabelScores& report, const std::vector<std::string>& names, MemoryGate& gate);

}  // namespace voxshard
