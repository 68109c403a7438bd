// A metric of a model on whole prepared volumes, for validation while it trains.
#pragma once

#include "libcore/metrics/overlap_metrics.h"
#include "pipelines/engine/validation.h"
#include "pipelines/tasks/segmentation/dataset/prepared_dataset.h"
#include "pipelines/tasks/segmentation/sides/side_rule.h"

namespace voxshard {

/// Makes a validation that computes, for each class but the background, the mean of the metric over `cases` on the
/// prepared grid (NaN when no case has the class); the score is the mean over the classes that have a value. No process
/// holds a volume: each core reads and counts its own box. Where classes are joined, their planes depend on the whole
/// label map: the first process then holds that, a byte a voxel, splits it, and counts it box by box.
///   multiple  extents are rounded up to it
///   sides     of the model; empty: its classes are those of the data
std::unique_ptr<ValidationPass> validate_volumes(const PreparedDataset& dataset, std::vector<std::size_t> cases,
                                                 const OverlapMetric& metric, std::int64_t multiple,
                                                 const SideRule& sides = {});

}  // namespace voxshard
