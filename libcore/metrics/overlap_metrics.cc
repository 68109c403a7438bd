#include "libcore/metrics/overlap_metrics.h"

namespace voxshard {

const OverlapMetrics& overlap_metrics() {
  static const OverlapMetrics kMetrics = {{.name = "Dice", .key = "dice", .rule = "2TP/(2TP+FP+FN)", .of = dice},
                                          {.name = "IoU", .key = "iou", .of = iou}};
  return kMetrics;
}

}  // namespace voxshard
