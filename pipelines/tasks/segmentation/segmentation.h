// The segmentation task of U-Nets: a class for each voxel. One row in pipelines/tasks/table/task_table.cc.
#pragma once

#include "pipelines/tasks/segmentation/dataset/prepare_dataset.h"
#include "pipelines/tasks/segmentation/scores/evaluate_labels.h"
#include "pipelines/tasks/segmentation/volume_task.h"
#include "pipelines/tasks/task.h"

namespace voxshard {

/// Makes the task. Its options are PrepareOptions, VolumeTaskOptions and EvaluateLabelsOptions; values that every task
/// gets, such as paths, overwrite those in them.
///   metrics  for label maps; training validates by the first
std::shared_ptr<const Task> segmentation(const OverlapMetrics& metrics = overlap_metrics());

}  // namespace voxshard
