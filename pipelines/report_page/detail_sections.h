// The parts of a page about what validations found beside their scores: precision over recall of detectors, the
// confusion of classes of detectors and classifiers, the worst and the best images and items, and drawn images.
//
//   html += precision_section(runs) + confusion_section(run) + drawn_section(run);
#pragma once

#include <span>
#include <string>

#include "pipelines/report_page/run_data.h"

namespace voxshard {

/// Precision over recall at an IoU of 0.5: a curve of the mean over classes for each run, of the best validation
/// dashed, and a small chart for each class; the operating points. Empty where no run has such curves.
std::string precision_section(std::span<const RunData> runs);

/// Recall and precision of each class, the matrix of classes and the most frequent mistakes, of the last validation and
/// the best one; the worst and the best images or items. Empty where the run has none of it.
std::string confusion_section(const RunData& run);

/// Validated images with the boxes of their objects, dashed, and those that were detected. Empty where there is none.
std::string drawn_section(const RunData& run);

}  // namespace voxshard
