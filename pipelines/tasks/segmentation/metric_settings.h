// The settings of `evaluate` that say by which metrics label maps are compared, and by which definitions.
//
//   EvaluateLabelsOptions options;
//   set_value(metric_settings(options)[0], "dice,nsd,hd95");           // options.metric_keys
#pragma once

#include "pipelines/settings/setting.h"
#include "pipelines/tasks/segmentation/scores/evaluate_labels.h"

namespace voxshard {

/// Returns the rows, bound to `options`: metrics, tolerance-mm, surface-convention, empty and region.
std::vector<Setting> metric_settings(EvaluateLabelsOptions& options);

}  // namespace voxshard
