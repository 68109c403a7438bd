// The settings of `evaluate` that say by which metrics detections are scored, and by which rules.
//
//   EvaluateDetectionOptions options;
//   set_value(detection_metric_settings(options)[0], "coco,froc");       // options.metric_keys
#pragma once

#include "pipelines/settings/setting.h"
#include "pipelines/tasks/detection/scores/evaluate_detections.h"

namespace voxshard {

/// Returns the rows, bound to `options`: metrics, curves, and those of FROC.
std::vector<Setting> detection_metric_settings(EvaluateDetectionOptions& options);

}  // namespace voxshard
