#include "libcore/metrics/average_precision_match.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "libcore/base/error.h"

namespace voxshard {
namespace {

bool outside(double area, const AreaRange& range) { return area < range.low || area > range.high; }

constexpr std::size_t kNone = static_cast<std::size_t>(-1);

/// Returns the true box that a detection matches, or kNone.
///   order  indices of the true boxes, those that count first
///   row    the detection's IoU with each
std::size_t best_truth(std::span<const TrueBox* const> truths, std::span<const std::size_t> order,
                       const std::vector<bool>& ignored, const std::vector<bool>& taken, std::span<const double> row,
                       double threshold) {
  double best = std::min(threshold, 1 - 1e-10);  // an IoU of exactly 1 may come out a digit lower
  std::size_t found = kNone;
  for (const std::size_t t : order) {
    if (taken[t] && !truths[t]->crowd) continue;
    if (found != kNone && !ignored[found] && ignored[t]) break;  // a box that counts is preferred to any ignored one
    if (row[t] < best) continue;
    best = row[t];  // among equals the last one
    found = t;
  }
  return found;
}

}  // namespace

double coco_iou(const CocoBox& detection, const CocoBox& truth, bool crowd) {
  const double width =
      std::fmin(detection.width + detection.x, truth.width + truth.x) - std::fmax(detection.x, truth.x);
  const double height =
      std::fmin(detection.height + detection.y, truth.height + truth.y) - std::fmax(detection.y, truth.y);
  if (width <= 0 || height <= 0) return 0;
  const double both = width * height;
  return both / (crowd ? detection.area() : detection.area() + truth.area() - both);
}

BoxesByClass boxes_by_class(std::span<const TrueBox> truths, std::span<const ScoredBox> detections,
                            const BoxCounts& counts) {
  const auto check = [&](const auto& box) {
    ensure(box.image >= 0 && box.image < counts.images && box.category >= 0 && box.category < counts.categories,
           "a box belongs to an image and a class of the set");
  };
  BoxesByClass classes(static_cast<std::size_t>(counts.categories));
  const auto boxes_of = [&](const auto& box) -> BoxesOfImage& {
    check(box);
    return classes[box.category][box.image];
  };
  for (const TrueBox& truth : truths) boxes_of(truth).truths.push_back(&truth);
  for (const ScoredBox& detection : detections) boxes_of(detection).detections.push_back(&detection);
  const auto most = static_cast<std::size_t>(counts.most_detections);
  for (auto& images : classes)
    for (auto& [image, boxes] : images) {
      auto& found = boxes.detections;
      std::stable_sort(found.begin(), found.end(), [](const auto* a, const auto* b) { return a->score > b->score; });
      if (found.size() > most) found.resize(most);
    }
  return classes;
}

std::vector<double> iou_table(std::span<const TrueBox* const> truths, std::span<const ScoredBox* const> detections) {
  std::vector<double> table;
  table.reserve(truths.size() * detections.size());
  for (const auto* d : detections)
    for (const auto* t : truths) table.push_back(coco_iou(d->box, t->box, t->crowd));
  return table;
}

MatchedBoxes match_boxes(std::span<const TrueBox* const> truths, std::span<const ScoredBox* const> detections,
                         std::span<const double> ious, const AreaRange& range, std::span<const double> thresholds) {
  MatchedBoxes result;
  for (const auto* d : detections) result.scores.push_back(d->score);
  std::vector<bool> ignored;
  for (const auto* t : truths) ignored.push_back(t->crowd || t->ignore || outside(t->area, range));
  result.counted = std::count(ignored.begin(), ignored.end(), false);
  std::vector<std::size_t> order(truths.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(), [&](auto a, auto b) { return !ignored[a] && ignored[b]; });

  for (const double threshold : thresholds) {
    std::vector<bool> taken(truths.size(), false);
    for (std::size_t d = 0; d < detections.size(); ++d) {
      const std::size_t t =
          best_truth(truths, order, ignored, taken, ious.subspan(d * truths.size(), truths.size()), threshold);
      MatchOutcome outcome = outside(detections[d]->box.area(), range) ? MatchOutcome::kIgnored : MatchOutcome::kFalse;
      if (t != kNone) {
        outcome = ignored[t] ? MatchOutcome::kIgnored : MatchOutcome::kFound;
        taken[t] = true;
      }
      result.outcomes.push_back(outcome);
    }
  }
  return result;
}

}  // namespace voxshard
