// Reads what is usual of the training cases from a prepared folder, once, when a training begins.
//
//   preparation[kUsualCases] = to_json(training_ranges(dataset, trained));
#pragma once

#include "pipelines/tasks/segmentation/dataset/prepared_dataset.h"
#include "pipelines/tasks/segmentation/quality/quality_ranges.h"

namespace voxshard {

/// Of more training cases than these, so many that are spread evenly over the list are read.
inline constexpr std::size_t kMostJudgingCases = 100;

/// Returns the ranges of the cases that train. Of too few cases no volume is read.
///   cases  indices into dataset.cases
/// Memory: a slab of a label map, a plane of an image, and 12 bytes for each run of a class along a row, up to 64 MiB.
/// Cost: each label map and 16 planes of each image are read once. Errors: kInput.
QualityRanges training_ranges(const PreparedDataset& dataset, const std::vector<std::size_t>& cases);

}  // namespace voxshard
