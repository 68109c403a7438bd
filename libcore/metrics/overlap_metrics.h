// Segmentation metrics that follow from the voxel counts of a class.
//
//   for (const OverlapMetric& metric : overlap_metrics()) json[metric.key] = metric.of(counts);
#pragma once

#include <string>
#include <vector>

#include "libcore/metrics/dice.h"
#include "libcore/metrics/metric.h"

namespace voxshard {

using OverlapMetric = Metric<ClassCounts>;
/// Metrics in the order in which they are shown; validation during training uses the first.
using OverlapMetrics = std::vector<OverlapMetric>;

/// All overlap metrics of this build: Dice and IoU.
const OverlapMetrics& overlap_metrics();

/// "Dice 2TP/(2TP+FP+FN)": the names and formulas of the metrics that state one.
std::string rules_of(const OverlapMetrics& metrics);

}  // namespace voxshard
