// The golden case of a detector: a generated image, and how two lists of COCO results are compared.
//
//   write_golden_image("golden/input");        // golden.png
#pragma once

#include <filesystem>

#include "pipelines/tasks/answer_difference.h"

namespace voxshard {

/// Writes an image of 192 x 256 pixels, in which every level of the pyramid has anchors. Errors: kOutput.
void write_golden_image(const std::filesystem::path& folder);

/// Counts the boxes of both lists with at least half the best score of the reference that have no partner in the other
/// one: a box of the same class with an overlap (IoU) of 0.5 or more, whose score is within 0.1. Allowed is 1 of 20.
/// Reason: scores and box codes move by rounding; which of two boxes that overlap is kept, and where a list of 100
/// ends, depends on the order of their scores. Boxes of low scores are mostly such ties. Errors: kInput.
AnswerDifference detections_difference(const std::filesystem::path& reference, const std::filesystem::path& found);

}  // namespace voxshard
