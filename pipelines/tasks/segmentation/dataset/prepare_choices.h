// Chooses the preparation of a data set from the options and the data.
//
//   PreparePlan plan = plan_from_options(options);
//   plan.normalise = choose_normalise(options, dataset, progress);
//   complete_plan(plan, options, fingerprints);
#pragma once

#include "io/datasets/dataset.h"
#include "pipelines/tasks/segmentation/dataset/fingerprint.h"
#include "pipelines/tasks/segmentation/dataset/prepare_dataset.h"

namespace voxshard {

/// Returns a plan from the options that need no data set, checked before any file is read. Errors: kUsage.
PreparePlan plan_from_options(const PrepareOptions& options);

/// Returns the normalisation of the channel: the option, else nnU-Net's choice by the channel's name. Errors: kConfig.
Normalise choose_normalise(const PrepareOptions& options, const Dataset& dataset, Progress& progress);

/// Sets spacing, clipping, mean and deviation from the usable cases, where the options leave them to the data. Errors:
/// kNoCase when a foreground is needed and no case has one.
void complete_plan(PreparePlan& plan, const PrepareOptions& options, const std::vector<CaseFingerprint>& cases);

}  // namespace voxshard
