// The metrics by which label maps are compared, a row each: the overlap metrics, volumes, and distances of surfaces.
//
//   for (const LabelMetric& metric : chosen_metrics({"dice", "hd95"}, overlap_metrics()))
//     json[metric.shown.key] = metric.shown.of({.counts = counts, .surfaces = &distances});
#pragma once

#include <string>
#include <vector>

#include "libcore/metrics/overlap_metrics.h"
#include "libcore/metrics/surface/empty_rule.h"
#include "libcore/metrics/surface/surface_distances.h"

namespace voxshard {

/// The data that a metric reads of one class in one case.
struct ComparedClass {
  ClassCounts counts;
  double voxel_mm3 = 1;
  const SurfaceDistances* surfaces = nullptr;  // required for metrics of surfaces
  const EmptyRule* empty = &empty_rules().front();
};

struct LabelMetric {
  Metric<ComparedClass> shown;
  bool of_surfaces = false;  // the distances are computed only where a metric asks for them
};
/// Metrics in the order in which they are shown.
using LabelMetrics = std::vector<LabelMetric>;

/// The overlap metrics, which are those of a command that names none.
LabelMetrics metrics_of(const OverlapMetrics& overlap);

/// All metrics: the overlap metrics, volume difference in ml and relative to the reference, NSD, Hausdorff distance,
/// its 95th percentile and average symmetric surface distance.
LabelMetrics all_label_metrics(const OverlapMetrics& overlap);

/// Returns the metrics with these keys, in this order; metrics_of(overlap) for no key. Errors: kUsage for a key that no
/// metric has, or that is given twice.
LabelMetrics chosen_metrics(const std::vector<std::string>& keys, const OverlapMetrics& overlap);

bool any_of_surfaces(const LabelMetrics& metrics);

/// "Dice 2TP/(2TP+FP+FN), HD95 ...": the names and formulas of the metrics that state one.
std::string rules_of(const LabelMetrics& metrics);

}  // namespace voxshard
