// How a data set is prepared: what was asked for, and what follows from the data.
//
//   PreparePlan plan = plan_from_options(options);
//   plan.normalise = choose_normalise(options, dataset, progress);
//   complete_plan(plan, options, fingerprints);
#pragma once

#include "io/datasets/dataset.h"
#include "pipelines/tasks/segmentation/dataset/fingerprint.h"
#include "pipelines/tasks/segmentation/dataset/prepare_dataset.h"

namespace voxshard {

/// Options whose values need no data set, checked before any file is read. Errors: kUsage.
PreparePlan plan_from_options(const PrepareOptions& options);

/// How the channel is normalised: what was asked for, else as nnU-Net does by the channel's name. Errors: kConfig.
Normalise choose_normalise(const PrepareOptions& options, const Dataset& dataset, Progress& progress);

/// Spacing, clipping, mean and deviation that are asked of the cases that can be used. Errors: kNoCase when none has a
/// foreground that is asked for.
void complete_plan(PreparePlan& plan, const PrepareOptions& options, const std::vector<CaseFingerprint>& cases);

}  // namespace voxshard
