// A detector at one score: where its F1 is highest, and what it finds, misses and takes for another class there, at an
// IoU of 0.5. Average precision says nothing of this, because it runs over all scores.
//
//   const auto point = best_operating_point(truths, detections, {.images = 72, .categories = 3});
//   point->score, point->f1();
//   detection_confusion(truths, detections, {.images = 72, .categories = 3}, point->score)   // (4, 4)
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "libcore/metrics/average_precision_match.h"

namespace voxshard {

/// The least IoU of a detection with the object that it finds.
inline constexpr double kOperatingIou = 0.5;

/// The detections of at least this score, of all classes together.
struct OperatingPoint {
  double score = 0;
  std::int64_t found = 0, wrong = 0, missed = 0;  // objects found; detections of nothing; objects not found

  double recall() const { return ratio(found, found + missed); }
  double precision() const { return ratio(found, found + wrong); }
  double f1() const { return ratio(2 * found, 2 * found + wrong + missed); }

 private:
  static double ratio(std::int64_t part, std::int64_t whole) {
    return whole > 0 ? static_cast<double>(part) / static_cast<double>(whole) : 0;
  }
};

/// Returns the score with the highest F1, the highest among equals; none where no object is found at any score. Objects
/// are matched within their class by COCO's rules; crowds and ignored objects count nowhere. Errors: as
/// boxes_by_class().
std::optional<OperatingPoint> best_operating_point(std::span<const TrueBox> truths,
                                                   std::span<const ScoredBox> detections, const BoxCounts& counts);

/// Returns how many objects of the row's class were detected as the column's class by detections of at least `score`:
/// (categories + 1, categories + 1), where the last column is of objects that were not found, the last row of
/// detections of nothing. Detections take the free objects of their own class first, the best score first, then what is
/// left takes free objects of other classes. The diagonal is that of OperatingPoint::found. Errors: as
/// boxes_by_class().   Cost: per image detections x objects.
std::vector<std::int64_t> detection_confusion(std::span<const TrueBox> truths, std::span<const ScoredBox> detections,
                                              const BoxCounts& counts, double score);

}  // namespace voxshard
