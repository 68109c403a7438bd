// The detection task of RetinaNets: boxes and classes of objects in images and videos. One row in
// pipelines/tasks/table/task_table.cc.
#pragma once

#include "pipelines/tasks/detection/detection_task.h"
#include "pipelines/tasks/detection/scores/evaluate_detections.h"
#include "pipelines/tasks/task.h"

namespace voxshard {

/// Makes the task. Its options are DetectionTaskOptions, DetectionPrediction and EvaluateDetectionOptions; values that
/// every task gets, such as paths, overwrite those in them.
///   formats  box formats that it reads
std::shared_ptr<const Task> detection(const BoxFormats& formats = box_formats());

std::string to_text(const DetectionReport& report);

}  // namespace voxshard
