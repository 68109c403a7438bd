#include "pipelines/tasks/detection/scores/detection_detail.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>

#include "libcore/metrics/operating_point.h"
#include "pipelines/model_runs/report.h"
#include "pipelines/tasks/confusion_json.h"

namespace voxshard {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::size_t kAp50OfSummary = 1, kMostCurves = 100, kMostNamed = 5, kMostBoxes = 100, kShownWithoutPoint = 5;

/// Returns the precision of a class at each recall; empty for a class without objects.
std::vector<double> curve_of(const AveragePrecision& scores, std::size_t category) {
  std::vector<double> curve;
  for (std::size_t recall = 0; recall < scores.options.recall_points.size(); ++recall) {
    const double precision =
        scores.precision_at({.iou = 0, .recall = recall, .category = category, .area = 0, .most = 2});
    if (precision < 0) return {};
    curve.push_back(precision);
  }
  return curve;
}

Json curves_of(const DetectionFindings& findings) {
  const AveragePrecision& scores = findings.scores;
  std::vector<double> all(scores.options.recall_points.size());
  std::int64_t counted = 0;
  Json by_class = Json::array();
  for (std::size_t c = 0; c < findings.classes.size(); ++c) {
    const std::vector<double> curve = curve_of(scores, c);
    if (by_class.size() < kMostCurves) by_class.push_back(curve.empty() ? Json() : Json(curve));
    if (curve.empty()) continue;
    ++counted;
    for (std::size_t i = 0; i < all.size(); ++i) all[i] += curve[i];
  }
  for (double& precision : all) precision /= static_cast<double>(std::max<std::int64_t>(1, counted));
  return {{"recall", scores.options.recall_points},
          {"all", counted > 0 ? Json(all) : Json()},
          {"by_class", std::move(by_class)}};
}

Json point_json(const std::optional<OperatingPoint>& point) {
  if (!point) return nullptr;
  return {{"score", point->score}, {"recall", point->recall()}, {"precision", point->precision()}, {"f1", point->f1()},
          {"found", point->found}, {"wrong", point->wrong},     {"missed", point->missed}};
}

/// The boxes of one image, with image = 0.
struct ImageBoxes {
  std::vector<TrueBox> truth;
  std::vector<ScoredBox> found;  // best score first
};

ImageBoxes boxes_of(const DetectionFindings& findings, std::size_t image) {
  ImageBoxes boxes;
  const auto take = [&](auto& into, const auto& from) {
    for (const auto& box : from)
      if (box.image == static_cast<std::int64_t>(image)) into.push_back(box), into.back().image = 0;
  };
  take(boxes.truth, findings.truth), take(boxes.found, findings.found);
  std::ranges::stable_sort(boxes.found, std::greater(), &ScoredBox::score);
  return boxes;
}

Json box_json(const CocoBox& box) { return {box.x, box.y, box.width, box.height}; }

class DetailWriter {
 public:
  explicit DetailWriter(const DetectionFindings& findings)
      : findings_(findings),
        counts_{.images = std::ssize(findings.dataset.images), .categories = std::ssize(findings.classes)},
        point_(best_operating_point(findings.truth, findings.found, counts_)) {}

  Json write() const {
    Json detail = {{"kind", "detection"},
                   {"items", findings_.dataset.images.size()},
                   {"curves", curves_of(findings_)},
                   {"operating_point", point_json(point_)}};
    add_confusion(detail, {.classes = findings_.classes,
                           .counts = detection_confusion(findings_.truth, findings_.found, counts_, least_score()),
                           .has_nothing = true});
    std::vector<std::size_t> images;
    for (std::size_t i = 0; i < findings_.ap50_by_image.size(); ++i)
      if (std::isfinite(findings_.ap50_by_image[i])) images.push_back(i);
    const auto score = [&](std::size_t i) { return findings_.ap50_by_image[i]; };
    std::ranges::stable_sort(images, std::less(), score);
    detail["worst"] = named(images, (images.size() + 1) / 2);
    std::ranges::reverse(images);
    std::ranges::stable_sort(images, std::greater(), score);
    detail["best"] = named(images, images.size() / 2);  // none that is among the worst
    detail["images"] = Json::array();
    for (const DrawnImage& one : findings_.drawn) detail["images"].push_back(drawn(one));
    return detail;
  }

 private:
  double least_score() const { return point_ ? point_->score : std::numeric_limits<double>::infinity(); }
  std::string name_of(std::size_t image) const { return findings_.dataset.images[image].file.filename().string(); }

  Json named(const std::vector<std::size_t>& images, std::size_t most) const {
    Json list = Json::array();
    for (std::size_t i = 0; i < std::min(kMostNamed, most); ++i) {
      const ImageBoxes boxes = boxes_of(findings_, images[i]);
      const auto confusion =
          detection_confusion(boxes.truth, boxes.found, {.images = 1, .categories = counts_.categories}, least_score());
      const auto side = static_cast<std::size_t>(counts_.categories) + 1;
      std::int64_t objects = 0, found = 0, detected = 0;
      for (std::size_t of = 0; of < side; ++of)
        for (std::size_t as = 0; as < side; ++as) {
          const std::int64_t items = confusion[of * side + as];
          if (of + 1 < side) objects += items;
          if (as + 1 < side) detected += items;
          if (of == as && of + 1 < side) found += items;
        }
      list.push_back({{"item", name_of(images[i])},
                      {"ap50", json_number(findings_.ap50_by_image[images[i]])},
                      {"objects", objects},
                      {"found", found},
                      {"wrong", detected - found}});
    }
    return list;
  }

  Json drawn(const DrawnImage& one) const {
    const DetectionImage& image = findings_.dataset.images[one.image];
    const ImageBoxes boxes = boxes_of(findings_, one.image);
    Json reference = Json::array(), prediction = Json::array();
    for (const TrueBox& box : boxes.truth)
      if (!box.crowd && !box.ignore && reference.size() < kMostBoxes)
        reference.push_back({{"class", box.category}, {"box", box_json(box.box)}});
    for (const ScoredBox& box : boxes.found)
      if (point_ ? box.score >= point_->score && prediction.size() < kMostBoxes
                 : prediction.size() < kShownWithoutPoint)
        prediction.push_back({{"class", box.category}, {"box", box_json(box.box)}, {"score", box.score}});
    return {{"item", name_of(one.image)},
            {"width", image.width},
            {"height", image.height},
            {"ap50", json_number(one.ap50)},
            {"reference", std::move(reference)},
            {"prediction", std::move(prediction)},
            {"jpeg", one.jpeg}};
  }

  const DetectionFindings& findings_;
  BoxCounts counts_;
  std::optional<OperatingPoint> point_;
};

}  // namespace

double ap50_of_image(std::span<const TrueBox> truth, std::span<const ScoredBox> found, std::int64_t classes) {
  const double ap50 =
      average_precision(truth, found, {.images = 1, .categories = classes, .iou_thresholds = {kOperatingIou}})
          .summary()[kAp50OfSummary];
  return ap50 >= 0 ? ap50 : std::numeric_limits<double>::quiet_NaN();
}

Json detection_detail(const DetectionFindings& findings) { return DetailWriter(findings).write(); }

}  // namespace voxshard
