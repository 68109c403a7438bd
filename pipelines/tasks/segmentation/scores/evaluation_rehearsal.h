// The dry run of `evaluate` on label maps: the cases, their memory, and what would be left out, from headers alone.
#pragma once

#include "pipelines/engine/requests.h"
#include "pipelines/engine/run_context.h"
#include "pipelines/tasks/segmentation/scores/evaluate_labels.h"

namespace voxshard {

/// Reads no voxel and writes nothing. Errors: those of evaluate_labels() about its inputs; kNoCase, or kBudget, when no
/// case could be scored.
TaskReport rehearse_evaluation(const EvaluateLabelsOptions& options, const RunContext& context);

}  // namespace voxshard
