// The metrics of segmentation that follow from the voxels that are counted of a class.
//
//   for (const OverlapMetric& metric : overlap_metrics()) json[metric.key] = metric.of(counts);
#pragma once

#include <string>
#include <vector>

#include "libcore/metrics/dice.h"
#include "libcore/metrics/metric.h"

namespace voxshard {

using OverlapMetric = Metric<ClassCounts>;
/// In the order in which they are shown; training validates by the first.
using OverlapMetrics = std::vector<OverlapMetric>;

/// All that this build knows: Dice and IoU.
const OverlapMetrics& overlap_metrics();

/// "Dice 2TP/(2TP+FP+FN)", of the metrics that say their formula.
std::string rules_of(const OverlapMetrics& metrics);

}  // namespace voxshard
