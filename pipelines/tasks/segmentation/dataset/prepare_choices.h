// Chooses the preparation of a data set from the options and the data.
//
//   PreparePlan plan = plan_from_options(options);
//   plan.normalise = choose_normalise(options, dataset, 0, progress);    // of the first channel
//   complete_plan(plan, options, fingerprints);
#pragma once

#include "io/datasets/dataset.h"
#include "pipelines/tasks/segmentation/dataset/fingerprint.h"
#include "pipelines/tasks/segmentation/dataset/prepare_dataset.h"
#include "pipelines/tasks/segmentation/dataset/source_case.h"

namespace voxshard {

/// Returns a plan from the options that need no data set, checked before any file is read. Errors: kUsage.
PreparePlan plan_from_options(const PrepareOptions& options);

/// Returns the normalisation of a channel that nobody gave one for: nnU-Net's by its name; of CT soft tissue, unless
/// its convention or a window is asked for. Errors: kConfig.
Normalise usual_normalise(const PrepareOptions& options, const std::string& channel);
/// Returns the normalisation of a channel: the option, else the usual one. Of several channels the options in HU, ct,
/// soft_tissue and window, are for those called CT. Errors: kConfig.
Normalise choose_normalise(const PrepareOptions& options, const Dataset& dataset, std::size_t channel,
                           Progress& progress);
/// Sets names and normalisation of all channels. Errors: kConfig; kUsage for options in HU without a channel for them.
void choose_channels(PreparePlan& plan, const PrepareOptions& options, const Dataset& dataset, Progress& progress);

/// Sets the spacing of a plan that leaves it to the data: the median of the oriented volumes, or with nnU-Net's
/// convention its target spacing, for which volumes count whole; with {spacing} auto also which images keep their own.
/// Requires one geometry or more.
void choose_spacing(PreparePlan& plan, const PrepareOptions& options, const std::vector<Geometry>& geometries);

/// Sets spacing, clipping, mean and deviation of a plan of one channel from the usable cases, where the options leave
/// them to the data. Errors: kNoCase when a foreground is needed and no case has one.
void complete_plan(PreparePlan& plan, const PrepareOptions& options, const std::vector<CaseFingerprint>& cases);
/// The same for all channels.
///   by_channel  the cases, for each channel
void complete_channels(PreparePlan& plan, const PrepareOptions& options,
                       const std::vector<std::vector<CaseFingerprint>>& by_channel);

}  // namespace voxshard
