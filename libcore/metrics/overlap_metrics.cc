#include "libcore/metrics/overlap_metrics.h"

namespace voxshard {

const OverlapMetrics& overlap_metrics() {
  static const OverlapMetrics kMetrics = {{.name = "Dice", .key = "dice", .rule = "2TP/(2TP+FP+FN)", .of = dice},
                                          {.name = "IoU", .key = "iou", .of = iou}};
  return kMetrics;
}

std::string rules_of(const OverlapMetrics& metrics) {
  std::string rules;
  for (const OverlapMetric& metric : metrics)
    if (*metric.rule != '\0') rules += (rules.empty() ? "" : ", ") + std::string(metric.name) + " " + metric.rule;
  return rules;
}

}  // namespace voxshard
