// COCO's detection scores: average precision over IoU thresholds .50 to .95 and 101 recall points, average recall, by
// object size and number of detections; the twelve numbers that pycocotools prints, and the curves behind them.
//
//   AveragePrecision s = average_precision(truths, detections, {.images = 72, .categories = 3});
//   s.summary()[0], s.summary()[1]        // AP, AP50
//   s.precision_at({.iou = 0, .recall = 50, .category = 2, .area = 0, .most = 2})
//
// All digits agree with cocodataset/cocoapi, PythonAPI/pycocotools/cocoeval.py, with one difference: there a true box
// whose annotation id is 0 can never be found; here ids play no part.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "libcore/metrics/average_precision_match.h"

namespace voxshard {

/// Returns count values from first to last, both included, computed as numpy.linspace does: 0.9 is 0.8999999999999999
/// there.
std::vector<double> linspace(double first, double last, int count);

struct CocoOptions {
  std::int64_t images = 0, categories = 0;  // image and category indices are below these
  std::vector<double> iou_thresholds = linspace(0.5, 0.95, 10);
  std::vector<double> recall_points = linspace(0, 1, 101);
  std::vector<std::int64_t> most_detections = {1, 10, 100};  // per image and class, ascending; three of them
};

/// All, small (up to 32^2 px^2), medium (up to 96^2), large.
inline constexpr std::array<AreaRange, 4> kCocoAreas = {
    {{"all", 0, 1e10}, {"small", 0, 1024}, {"medium", 1024, 9216}, {"large", 9216, 1e10}}};

inline constexpr std::size_t kCocoNumbers = 12;
using CocoSummary = std::array<double, kCocoNumbers>;
/// "AP", "AP50", "AP75", "AP_small", "AP_medium", "AP_large", "AR_1", "AR_10", "AR_100", "AR_small", "AR_medium",
/// "AR_large".
const std::array<const char*, kCocoNumbers>& coco_names();

/// The position of a value; each part is an index into the options' lists, into the classes or into kCocoAreas.
struct CocoIndex {
  std::size_t iou = 0, recall = 0, category = 0, area = 0, most = 2;
};

struct AveragePrecision {
  CocoOptions options;
  std::vector<double> precision;  // (IoU, recall point, class, area, most detections); -1 without true boxes
  std::vector<double> recall;     // (IoU, class, area, most detections); the highest recall; -1 without true boxes

  double precision_at(const CocoIndex& at) const { return precision[precision_offset(at)]; }
  double recall_at(const CocoIndex& at) const { return recall[recall_offset(at)]; }
  std::size_t precision_offset(const CocoIndex& at) const;
  std::size_t recall_offset(const CocoIndex& at) const;

  /// The twelve numbers: means over the entries that are not -1; -1 when all are.
  CocoSummary summary() const;
  /// The same numbers for one class.
  CocoSummary summary_of(std::size_t category) const;
};

/// Matches, sorts and averages.
///   truths      in the order of their file
///   detections  in the order of their file; among equal scores the earlier one goes first (then the lower image)
/// Errors: kInternal for an index out of range.   Cost: per image and class 4 x 10 x detections x truths.
AveragePrecision average_precision(std::span<const TrueBox> truths, std::span<const ScoredBox> detections,
                                   const CocoOptions& options);

}  // namespace voxshard
