// The task of classifiers: the class of an image, a CT volume or a clip. One row in
// pipelines/tasks/table/task_table.cc.
#pragma once

#include "pipelines/tasks/classification/class_task.h"
#include "pipelines/tasks/classification/predict_classes.h"
#include "pipelines/tasks/classification/scores/evaluate_classes.h"
#include "pipelines/tasks/task.h"

namespace voxshard {

/// Its options: ClassTaskOptions, ClassPredictionOptions and EvaluateClassesOptions; what every task is told overwrites
/// theirs.
///   kinds    of data sets that it reads
///   metrics  of each class
std::shared_ptr<const Task> classification(const ClassKinds& kinds = class_kinds(),
                                           const ClassMetrics& metrics = class_metrics());

}  // namespace voxshard
