// A metric of a model on whole prepared volumes, for validation while it trains.
#pragma once

#include "libcore/metrics/overlap_metrics.h"
#include "pipelines/engine/validation.h"
#include "pipelines/tasks/segmentation/dataset/prepared_dataset.h"

namespace voxshard {

/// Makes a validation that computes, for each class but the background, the mean of the metric over `cases` on the
/// prepared grid (NaN when no case has the class); the score is the mean over the classes that have a value. No process
/// holds a volume: each core reads and counts its own box.
///   multiple  extents are rounded up to it
std::unique_ptr<ValidationPass> validate_volumes(const PreparedDataset& dataset, std::vector<std::size_t> cases,
                                                 const OverlapMetric& metric, std::int64_t multiple);

}  // namespace voxshard
