// Matches detections to true boxes by COCO's rules, in one image and one class: best score first, each takes the free
// true box that it overlaps most; crowds and boxes outside the area range neither help nor harm.
//
//   MatchedBoxes m = match_boxes(truths, detections, {"all", 0, 1e10}, {{0.5, 0.75}});
//   m.outcome(1, 0)      // at IoU 0.75 the best detection is kFound, kFalse or kIgnored
//
// Called by average_precision.cc and operating_point.cc. Source of the rules: cocodataset/cocoapi,
// PythonAPI/pycocotools/cocoeval.py, and common/maskApi.c (bbIou) for the IoU.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <vector>

#include "libcore/tensor/pixel_box.h"

namespace voxshard {

struct AreaRange {
  const char* name;
  double low, high;  // px^2, both included
};

/// Intersection over union; for a crowd, the part of the detection that lies in it. 0 where they do not overlap.
double coco_iou(const CocoBox& detection, const CocoBox& truth, bool crowd);

enum class MatchOutcome : std::uint8_t { kFalse, kFound, kIgnored };

struct MatchedBoxes {
  std::vector<double> scores;          // best first
  std::vector<MatchOutcome> outcomes;  // threshold by threshold, per detection
  std::int64_t counted = 0;            // true boxes that can be found: neither crowds nor ignored nor of another area

  MatchOutcome outcome(std::size_t threshold, std::size_t detection) const {
    return outcomes[threshold * scores.size() + detection];
  }
};

/// The boxes of one class in one image.
struct BoxesOfImage {
  std::vector<const TrueBox*> truths;        // in their order
  std::vector<const ScoredBox*> detections;  // best score first; among equals the earlier one
};
/// By class: the boxes of each image that has any, in the order of the images.
using BoxesByClass = std::vector<std::map<std::int64_t, BoxesOfImage>>;

struct BoxCounts {
  std::int64_t images = 0, categories = 0;  // image and category indices are below these
  std::int64_t most_detections = 100;       // the best of each image and class
};

/// Sorts boxes by class and image; the result points into both lists. Errors: kInternal for an index out of range.
BoxesByClass boxes_by_class(std::span<const TrueBox> truths, std::span<const ScoredBox> detections,
                            const BoxCounts& counts);

/// The IoU of each detection (rows) with each true box (columns), so that it is computed once for all area ranges.
std::vector<double> iou_table(std::span<const TrueBox* const> truths, std::span<const ScoredBox* const> detections);

/// Matches the boxes of one image and class.
///   truths      in the order of their file
///   detections  best score first
///   ious        iou_table of the two
///   thresholds  a detection needs at least this IoU
/// Cost: thresholds x detections x truths.
MatchedBoxes match_boxes(std::span<const TrueBox* const> truths, std::span<const ScoredBox* const> detections,
                         std::span<const double> ious, const AreaRange& range, std::span<const double> thresholds);

}  // namespace voxshard
