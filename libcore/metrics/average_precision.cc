#include "libcore/metrics/average_precision.h"

#include <algorithm>
#include <limits>

#include "libcore/base/error.h"

namespace voxshard {
namespace {

/// A detection of one class in any image: its score and the location of its outcomes.
struct Ranked {
  double score;
  const MatchedBoxes* image;
  std::size_t index;
};

/// The best `most` detections of each image, sorted best first over all images.
std::vector<Ranked> ranked(const std::vector<MatchedBoxes>& images, std::int64_t most) {
  std::vector<Ranked> all;
  for (const auto& m : images)
    for (std::size_t d = 0; d < std::min(m.scores.size(), static_cast<std::size_t>(most)); ++d)
      all.push_back({m.scores[d], &m, d});
  std::stable_sort(all.begin(), all.end(), [](const auto& a, const auto& b) { return a.score > b.score; });
  return all;
}

struct Curve {
  std::vector<double> recall, precision;  // after each detection
};

Curve curve(const std::vector<Ranked>& detections, std::size_t threshold, std::int64_t counted) {
  Curve c;
  double found = 0, wrong = 0;
  for (const auto& d : detections) {
    const MatchOutcome outcome = d.image->outcome(threshold, d.index);
    found += outcome == MatchOutcome::kFound;
    wrong += outcome == MatchOutcome::kFalse;
    c.recall.push_back(found / static_cast<double>(counted));
    c.precision.push_back(found / (wrong + found + std::numeric_limits<double>::epsilon()));
  }
  for (std::size_t i = c.precision.size(); i-- > 1;) c.precision[i - 1] = std::max(c.precision[i - 1], c.precision[i]);
  return c;
}

/// Fills in all results of one class and area range.
void accumulate(AveragePrecision& result, const std::vector<MatchedBoxes>& images, std::size_t category,
                std::size_t area) {
  const CocoOptions& o = result.options;
  std::int64_t counted = 0;
  for (const auto& m : images) counted += m.counted;
  if (counted == 0) return;
  for (std::size_t most = 0; most < o.most_detections.size(); ++most) {
    const auto detections = ranked(images, o.most_detections[most]);
    for (std::size_t iou = 0; iou < o.iou_thresholds.size(); ++iou) {
      const Curve c = curve(detections, iou, counted);
      CocoIndex at{.iou = iou, .recall = 0, .category = category, .area = area, .most = most};
      result.recall[result.recall_offset(at)] = c.recall.empty() ? 0 : c.recall.back();
      for (; at.recall < o.recall_points.size(); ++at.recall) {
        const auto reached = std::lower_bound(c.recall.begin(), c.recall.end(), o.recall_points[at.recall]);
        result.precision[result.precision_offset(at)] =
            reached == c.recall.end() ? 0 : c.precision[reached - c.recall.begin()];
      }
    }
  }
}

/// The mean of the values that are not -1.
class Mean {
 public:
  void add(double value) {
    if (value > -1) sum_ += value, ++count_;
  }
  double value() const { return count_ == 0 ? -1 : sum_ / static_cast<double>(count_); }

 private:
  double sum_ = 0;
  std::int64_t count_ = 0;
};

/// One of the twelve numbers, at the IoU threshold `only`, or over all of them when it is negative.
struct Question {
  bool recall;
  double only;
  std::size_t area, most;
};
constexpr Question kQuestions[kCocoNumbers] = {
    {false, -1, 0, 2}, {false, 0.5, 0, 2}, {false, 0.75, 0, 2}, {false, -1, 1, 2}, {false, -1, 2, 2}, {false, -1, 3, 2},
    {true, -1, 0, 0},  {true, -1, 0, 1},   {true, -1, 0, 2},    {true, -1, 1, 2},  {true, -1, 2, 2},  {true, -1, 3, 2}};

double answer(const AveragePrecision& s, const Question& q, std::size_t first_category, std::size_t past_category) {
  const CocoOptions& o = s.options;
  Mean mean;
  CocoIndex at{.iou = 0, .recall = 0, .category = 0, .area = q.area, .most = q.most};
  for (at.iou = 0; at.iou < o.iou_thresholds.size(); ++at.iou) {
    if (q.only >= 0 && o.iou_thresholds[at.iou] != q.only) continue;
    for (at.category = first_category; at.category < past_category; ++at.category) {
      if (q.recall) mean.add(s.recall_at(at));
      for (at.recall = 0; !q.recall && at.recall < o.recall_points.size(); ++at.recall) mean.add(s.precision_at(at));
    }
  }
  return mean.value();
}

CocoSummary answers(const AveragePrecision& s, std::size_t first_category, std::size_t past_category) {
  CocoSummary summary{};
  for (std::size_t i = 0; i < kCocoNumbers; ++i) summary[i] = answer(s, kQuestions[i], first_category, past_category);
  return summary;
}

}  // namespace

std::vector<double> linspace(double first, double last, int count) {
  ensure(count >= 2, "linspace has both its ends");
  std::vector<double> values;
  const double step = (last - first) / (count - 1);
  for (int i = 0; i < count; ++i) values.push_back(i * step + first);
  values.back() = last;
  return values;
}

const std::array<const char*, kCocoNumbers>& coco_names() {
  static constexpr std::array<const char*, kCocoNumbers> names = {"AP",        "AP50",     "AP75",      "AP_small",
                                                                  "AP_medium", "AP_large", "AR_1",      "AR_10",
                                                                  "AR_100",    "AR_small", "AR_medium", "AR_large"};
  return names;
}

std::size_t AveragePrecision::precision_offset(const CocoIndex& at) const {
  const auto classes = static_cast<std::size_t>(options.categories);
  return (((at.iou * options.recall_points.size() + at.recall) * classes + at.category) * kCocoAreas.size() + at.area) *
             options.most_detections.size() +
         at.most;
}

std::size_t AveragePrecision::recall_offset(const CocoIndex& at) const {
  const auto classes = static_cast<std::size_t>(options.categories);
  return ((at.iou * classes + at.category) * kCocoAreas.size() + at.area) * options.most_detections.size() + at.most;
}

CocoSummary AveragePrecision::summary() const {
  return answers(*this, 0, static_cast<std::size_t>(options.categories));
}

CocoSummary AveragePrecision::summary_of(std::size_t category) const { return answers(*this, category, category + 1); }

AveragePrecision average_precision(std::span<const TrueBox> truths, std::span<const ScoredBox> detections,
                                   const CocoOptions& options) {
  ensure(options.most_detections.size() == 3, "there are three numbers of detections");
  AveragePrecision result{.options = options, .precision = {}, .recall = {}};
  const std::size_t settings = options.iou_thresholds.size() * static_cast<std::size_t>(options.categories) *
                               kCocoAreas.size() * options.most_detections.size();
  result.precision.assign(settings * options.recall_points.size(), -1);
  result.recall.assign(settings, -1);
  const BoxesByClass classes = boxes_by_class(
      truths, detections,
      {.images = options.images, .categories = options.categories, .most_detections = options.most_detections.back()});
  for (std::size_t category = 0; category < classes.size(); ++category) {
    std::array<std::vector<MatchedBoxes>, kCocoAreas.size()> images;
    for (const auto& [image, boxes] : classes[category]) {
      const auto ious = iou_table(boxes.truths, boxes.detections);
      for (std::size_t area = 0; area < kCocoAreas.size(); ++area)
        images[area].push_back(
            match_boxes(boxes.truths, boxes.detections, ious, kCocoAreas[area], options.iou_thresholds));
    }
    for (std::size_t area = 0; area < kCocoAreas.size(); ++area) accumulate(result, images[area], category, area);
  }
  return result;
}

}  // namespace voxshard
