// The task of U-Nets: a class for each voxel. One row in pipelines/tasks/table/task_table.cc.
#pragma once

#include "pipelines/tasks/segmentation/dataset/prepare_dataset.h"
#include "pipelines/tasks/segmentation/scores/evaluate_labels.h"
#include "pipelines/tasks/segmentation/volume_task.h"
#include "pipelines/tasks/task.h"

namespace voxshard {

/// Its options: PrepareOptions, VolumeTaskOptions and EvaluateLabelsOptions; what every task is told overwrites theirs.
///   metrics  of label maps; training validates by the first
std::shared_ptr<const Task> segmentation(const OverlapMetrics& metrics = overlap_metrics());

std::string to_text(const PrepareReport& report);
std::string to_text(const LabelScores& scores);

}  // namespace voxshard
