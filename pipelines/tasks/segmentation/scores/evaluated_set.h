// The cases of an evaluation of label maps: pairs of two folders, or of a folder and a tree of studies, and what is
// known of their classes.
//
//   EvaluatedSet set = read_evaluated(options, context);
//   set.pairs[0].prediction
#pragma once

#include <optional>
#include <vector>

#include "io/datasets/dataset.h"
#include "pipelines/engine/run_context.h"
#include "pipelines/tasks/segmentation/scores/evaluate_labels.h"
#include "pipelines/tasks/segmentation/scores/label_pairs.h"

namespace voxshard {

struct EvaluatedSet {
  std::optional<Dataset> dataset;
  std::vector<LabelPair> pairs;
};

/// Finds the cases; those that were not predicted because the run was trained on them are left out. Errors: those of
/// evaluate_labels() about its inputs; kNoCase when none is left.
EvaluatedSet read_evaluated(const EvaluateLabelsOptions& options, const RunContext& context);

}  // namespace voxshard
