// An image of a classifier's quality: the confusion matrix with a row per true class, shaded by the share of its row,
// beside the reliability diagram, accuracy over confidence with the diagonal of a calibrated classifier.
//
//   write_rgb("confusion.png", class_plots({.classes = {"red", "white"}, .confusion = {9, 1, 0, 5}, .bins = bins}));
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "libcore/tensor/tensor.h"

namespace voxshard {

/// One bar of the reliability diagram: the items whose confidence lies in (low, high].
struct ReliabilityBar {
  double low = 0, high = 0;
  double share = 0;                     // share of all items, 0 to 1
  double confidence = 0, accuracy = 0;  // means over the items; not finite: no items, and no bar is drawn
};

struct ClassPlots {
  std::vector<std::string> classes;     // cut where there is no room; other than printable ASCII becomes '?'
  std::vector<std::int64_t> confusion;  // (classes, classes)
  std::vector<ReliabilityBar> bars;
  std::string title, note;  // above the matrix and the diagram: "accuracy 0.950", "expected calibration error 0.012"
};

/// Returns the image, (H, W, 3) u8, red first; the same numbers give the same bytes. Cells show their count where there
/// is room, which is up to about 30 classes. Errors: kInternal for a confusion matrix of another size.
Tensor class_plots(const ClassPlots& plots);

}  // namespace voxshard
