// `voxshard evaluate` on several predictions, or several runs, of the same data: the scores of each, their mean and
// spread, and of predictions that share no case, such as those of folds, the scores of all of them as one set.
//
//   evaluate_several({.predictions = "run_0/held_out", .references = "data/labelsTr", .further = {"run_1/held_out"}},
//                    evaluate_one, context);
#pragma once

#include <functional>

#include "pipelines/engine/requests.h"
#include "pipelines/engine/run_context.h"

namespace voxshard {

/// Evaluates one prediction or run; or, of options with further predictions, all of these as one set.
using EvaluateOne = std::function<TaskReport(const EvaluateOptions&)>;

/// Evaluates options.predictions and each of options.further; all processes call it. Writes options.summary, JSON, and
/// the table as CSV beside it. Errors: kUsage for runs beside predictions, the same path twice, and options that write
/// a file of one prediction; kOutput; those of `one`.
TaskReport evaluate_several(const EvaluateOptions& options, const EvaluateOne& one, const RunContext& context);

}  // namespace voxshard
