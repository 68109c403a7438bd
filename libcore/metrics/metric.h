// A metric is a row: its names, its direction, and the function that computes it from the counts of one class.
// Evaluation, validation, training logs, texts and JSON read the rows of the table that they are given.
//
//   const Metric<ClassCounts>& iou = overlap_metrics()[1];
//   iou.of(count_classes(prediction, reference, 8)[1]);        // 0.74; NaN when class 1 is in neither
#pragma once

#include <functional>
#include <string>

namespace voxshard {

template <class Counted>
struct Metric {
  const char* name;                               // for people, and in nnU-Net's summary.json: "IoU"
  const char* key;                                // in JSON and in the names of columns: "iou"
  const char* unit = "";                          // for people: "mm"; empty: none
  const char* rule = "";                          // the formula, for readers of the JSON; empty: none given
  bool higher_is_better = true;                   // else validation keeps the model with the lowest
  bool has_mean = true;                           // a mean over the classes is reported
  int digits = 3;                                 // decimals in tables
  std::function<double(const Counted&)> of = {};  // NaN where undefined: means leave it out
};

/// "IoU", "HD95 (mm)".
template <class Counted>
std::string heading_of(const Metric<Counted>& metric) {
  return *metric.unit == '\0' ? metric.name : std::string(metric.name) + " (" + metric.unit + ")";
}

}  // namespace voxshard
