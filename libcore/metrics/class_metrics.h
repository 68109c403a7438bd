// The metrics of one class of classification, against the others.
//
//   for (const ClassMetric& metric : class_metrics()) json[metric.key] = metric.of({items, 0, scores[0]});
#pragma once

#include <vector>

#include "libcore/metrics/classified.h"
#include "libcore/metrics/metric.h"

namespace voxshard {

/// A class as it is counted: all items, its number, and its scores from the confusion matrix.
struct CountedClass {
  const Classified& items;
  std::int64_t number = 0;
  RecallAndPrecision scores;
};

using ClassMetric = Metric<CountedClass>;
/// In the order in which they are shown.
using ClassMetrics = std::vector<ClassMetric>;

/// All that this build knows: recall, precision, F1 and ROC-AUC.
const ClassMetrics& class_metrics();

}  // namespace voxshard
