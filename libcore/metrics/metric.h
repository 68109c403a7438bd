// A metric is a row: its names, its direction, and how it is computed from what is counted of one class. Evaluation,
// validation, the columns of training, texts and JSON read the rows of the table that they are handed.
//
//   const Metric<ClassCounts>& iou = overlap_metrics()[1];
//   iou.of(count_classes(prediction, reference, 8)[1]);        // 0.74; NaN when class 1 is in neither
#pragma once

#include <string>

namespace voxshard {

template <class Counted>
struct Metric {
  const char* name;                        // for people, and in nnU-Net's summary.json: "IoU"
  const char* key;                         // in JSON and in the names of columns: "iou"
  const char* unit = "";                   // for people: "mm"; empty: none
  const char* rule = "";                   // the formula, for those who read the JSON; empty: not said
  bool higher_is_better = true;            // else validation keeps the lowest
  bool has_mean = true;                    // over the classes
  int digits = 3;                          // behind the point, in tables
  double (*of)(const Counted&) = nullptr;  // NaN where it says nothing: means leave it out
};

/// "IoU", "HD95 (mm)".
template <class Counted>
std::string heading_of(const Metric<Counted>& metric) {
  return *metric.unit == '\0' ? metric.name : std::string(metric.name) + " (" + metric.unit + ")";
}

}  // namespace voxshard
