// Metrics of one class in classification, against all others.
//
//   for (const ClassMetric& metric : class_metrics()) json[metric.key] = metric.of({items, 0, scores[0]});
#pragma once

#include <vector>

#include "libcore/metrics/classified.h"
#include "libcore/metrics/metric.h"

namespace voxshard {

/// The data that a class metric reads: all items, the class number, and its scores from the confusion matrix.
struct CountedClass {
  const Classified& items;
  std::int64_t number = 0;
  RecallAndPrecision scores;
};

using ClassMetric = Metric<CountedClass>;
/// Metrics in the order in which they are shown.
using ClassMetrics = std::vector<ClassMetric>;

/// All class metrics of this build: recall, precision, F1 and ROC-AUC.
const ClassMetrics& class_metrics();

}  // namespace voxshard
