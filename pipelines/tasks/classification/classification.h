// The classification task: the class of an image, a CT volume or a clip. One row in
// pipelines/tasks/table/task_table.cc.
#pragma once

#include "pipelines/tasks/classification/class_task.h"
#include "pipelines/tasks/classification/predict_classes.h"
#include "pipelines/tasks/classification/scores/evaluate_classes.h"
#include "pipelines/tasks/task.h"

namespace voxshard {

/// Makes the task. Its options are ClassTaskOptions, ClassPredictionOptions and EvaluateClassesOptions; values that
/// every task gets, such as paths, overwrite those in them.
///   kinds    kinds of data sets that it reads
///   metrics  metrics of each class
std::shared_ptr<const Task> classification(const ClassKinds& kinds = class_kinds(),
                                           const ClassMetrics& metrics = class_metrics());

}  // namespace voxshard
