#include "libcore/metrics/froc.h"

#include <algorithm>
#include <map>

#include "libcore/base/error.h"
#include "libcore/base/text.h"
#include "libcore/metrics/average_precision_match.h"

namespace voxshard {
namespace {

constexpr std::size_t kNoTruth = static_cast<std::size_t>(-1);

/// A detection that counts: `found` objects are found by it, and it is a false positive when there is none.
struct Counted {
  double score = 0;
  std::int64_t found = 0;
};

/// The boxes of one class in one image.
struct ImageBoxes {
  std::vector<const TrueBox*> truths;
  std::vector<const ScoredBox*> detections;
};

bool is_ignored(const TrueBox& truth) { return truth.crowd || truth.ignore; }

bool centre_inside(const CocoBox& detection, const CocoBox& truth) {
  const double x = detection.x + detection.width / 2, y = detection.y + detection.height / 2;
  return x >= truth.x && x <= truth.x + truth.width && y >= truth.y && y <= truth.y + truth.height;
}

/// One hit of a detection.
struct Hit {
  std::size_t truth = kNoTruth;
  double iou = 0;
};

std::vector<Hit> hits_of(const ScoredBox& detection, const std::vector<const TrueBox*>& truths, const FrocOptions& o) {
  std::vector<Hit> hits;
  for (std::size_t t = 0; t < truths.size(); ++t) {
    const double iou = coco_iou(detection.box, truths[t]->box, truths[t]->crowd);
    if (o.hit->hits(iou, centre_inside(detection.box, truths[t]->box), o.least_iou)) hits.push_back({t, iou});
  }
  return hits;
}

/// Adds the detections of one image and class that count.
void match(ImageBoxes& boxes, const FrocOptions& o, std::vector<Counted>& counted) {
  std::stable_sort(boxes.detections.begin(), boxes.detections.end(),
                   [](const auto* a, const auto* b) { return a->score > b->score; });
  std::vector<bool> taken(boxes.truths.size(), false);
  for (const ScoredBox* detection : boxes.detections) {
    Counted one{.score = detection->score};
    Hit best;
    bool counts_nowhere = false;
    for (const Hit& hit : hits_of(*detection, boxes.truths, o)) {
      if (is_ignored(*boxes.truths[hit.truth])) {
        counts_nowhere = true;
      } else if (!o.matching->once) {
        if (taken[hit.truth])
          counts_nowhere = true;
        else
          taken[hit.truth] = true, ++one.found;
      } else if (!taken[hit.truth] && (best.truth == kNoTruth || hit.iou >= best.iou)) {
        best = hit;
      }
    }
    if (best.truth != kNoTruth) taken[best.truth] = true, one.found = 1;
    if (one.found > 0 || !counts_nowhere) counted.push_back(one);
  }
}

FrocCurve curve(std::vector<Counted> counted, std::int64_t objects, std::int64_t images) {
  FrocCurve result{.objects = objects, .points = {}};
  if (objects == 0) return result;
  std::stable_sort(counted.begin(), counted.end(),
                   [](const Counted& a, const Counted& b) { return a.score > b.score; });
  std::int64_t found = 0, wrong = 0;
  for (std::size_t i = 0; i < counted.size(); ++i) {
    found += counted[i].found;
    wrong += counted[i].found == 0;
    if (i + 1 < counted.size() && counted[i + 1].score == counted[i].score) continue;
    result.points.push_back({counted[i].score, static_cast<double>(wrong) / static_cast<double>(images),
                             static_cast<double>(found) / static_cast<double>(objects)});
  }
  return result;
}

const auto* row_named(const auto& rows, const std::string& name) {
  const auto at = std::ranges::find_if(rows, [&](const auto& row) { return name == row.name; });
  return at == rows.end() ? nullptr : &*at;
}

}  // namespace

const std::vector<FrocHit>& froc_hits() {
  static const std::vector<FrocHit> kRows = {
      {"iou", "IoU >= IOU", [](double iou, bool, double least) { return iou > 0 && iou >= least; }},
      {"centre", "its centre in the true box", [](double, bool inside, double) { return inside; }},
      {"both", "IoU >= IOU and its centre in the true box",
       [](double iou, bool inside, double least) { return inside && iou > 0 && iou >= least; }},
      {"either", "IoU >= IOU or its centre in the true box",
       [](double iou, bool inside, double least) { return inside || (iou > 0 && iou >= least); }}};
  return kRows;
}

const FrocHit* find_froc_hit(const std::string& name) { return row_named(froc_hits(), name); }

const std::vector<FrocMatching>& froc_matchings() {
  static const std::vector<FrocMatching> kRows = {
      {"once", "a detection finds one object, best score first, and is false when it hits found ones only", true},
      {"any", "an object is found by the best detection that hits it, its other hits count nowhere", false}};
  return kRows;
}

const FrocMatching* find_froc_matching(const std::string& name) { return row_named(froc_matchings(), name); }

double FrocCurve::sensitivity_at(double rate) const {
  if (objects == 0) return -1;
  FrocPoint before;  // (0, 0)
  for (const FrocPoint& point : points) {
    if (point.false_positives_per_image > rate) {
      const double share = (rate - before.false_positives_per_image) /
                           (point.false_positives_per_image - before.false_positives_per_image);
      return before.sensitivity + share * (point.sensitivity - before.sensitivity);
    }
    before = point;
  }
  return before.sensitivity;
}

std::array<double, kFrocRates> FrocCurve::sensitivities() const {
  std::array<double, kFrocRates> values{};
  std::ranges::transform(kFalsePositivesPerImage, values.begin(), [&](double rate) { return sensitivity_at(rate); });
  return values;
}

double FrocCurve::cpm() const {
  double sum = 0;
  for (const double value : sensitivities()) sum += value;
  return sum / static_cast<double>(kFrocRates);
}

double Froc::mean_class_cpm() const {
  double sum = 0;
  int count = 0;
  for (const FrocCurve& one : classes)
    if (one.objects > 0) sum += one.cpm(), ++count;
  return count == 0 ? -1 : sum / count;
}

Froc froc(std::span<const TrueBox> truths, std::span<const ScoredBox> detections, const FrocOptions& o) {
  const auto check = [&](const auto& box) {
    ensure(box.image >= 0 && box.image < o.images && box.category >= 0 && box.category < o.categories,
           "a box belongs to an image and a class of the set");
  };
  std::vector<std::map<std::int64_t, ImageBoxes>> boxes(static_cast<std::size_t>(o.categories));
  std::vector<std::int64_t> objects(boxes.size(), 0);
  for (const TrueBox& t : truths) {
    check(t);
    const auto category = static_cast<std::size_t>(t.category);
    boxes[category][t.image].truths.push_back(&t);
    objects[category] += !is_ignored(t);
  }
  for (const ScoredBox& d : detections) check(d), boxes[d.category][d.image].detections.push_back(&d);

  Froc result{.options = o, .classes = {}, .all = {}};
  std::vector<Counted> all;
  std::int64_t all_objects = 0;
  for (std::size_t c = 0; c < boxes.size(); ++c) {
    std::vector<Counted> counted;
    for (auto& [image, one] : boxes[c]) match(one, o, counted);
    all.insert(all.end(), counted.begin(), counted.end());
    all_objects += objects[c];
    result.classes.push_back(curve(std::move(counted), objects[c], o.images));
  }
  result.all = curve(std::move(all), all_objects, o.images);
  return result;
}

std::string rules_of(const FrocOptions& o) {
  std::string hit = o.hit->rule;
  if (const std::size_t at = hit.find("IOU"); at != std::string::npos) hit.replace(at, 3, number_text(o.least_iou));
  return std::string("a detection hits with ") + hit + "; " + o.matching->rule +
         "; hits of crowds and ignored boxes alone count nowhere; equal scores come together; linear between the "
         "points";
}

}  // namespace voxshard
