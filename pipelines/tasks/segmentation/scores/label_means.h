// The means of scores of label maps over the cases, class by class, and over the classes.
//
//   add_means(report);          // from report.cases and report.scored
#pragma once

#include "pipelines/tasks/segmentation/scores/evaluate_labels.h"

namespace voxshard {

/// Fills `classes`, `means` and `baseline_mean_dice` of a report. NaN is left out of every mean.
void add_means(LabelScores& report);

}  // namespace voxshard
