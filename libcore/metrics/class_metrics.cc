#include "libcore/metrics/class_metrics.h"

namespace voxshard {

const ClassMetrics& class_metrics() {
  static const ClassMetrics kMetrics = {
      {.name = "recall", .key = "recall", .of = [](const CountedClass& c) { return c.scores.recall; }},
      {.name = "precision",
       .key = "precision",
       .has_mean = false,
       .of = [](const CountedClass& c) { return c.scores.precision; }},
      {.name = "F1", .key = "f1", .has_mean = false, .of = [](const CountedClass& c) { return c.scores.f1; }},
      {.name = "ROC-AUC", .key = "auc", .of = [](const CountedClass& c) { return roc_auc(c.items, c.number); }}};
  return kMetrics;
}

}  // namespace voxshard
