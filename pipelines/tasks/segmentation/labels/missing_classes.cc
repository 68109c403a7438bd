#include "pipelines/tasks/segmentation/labels/missing_classes.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <nlohmann/json.hpp>
#include <optional>

#include "pipelines/tasks/segmentation/labels/byte_labels.h"

namespace voxshard {
namespace {

using Json = nlohmann::ordered_json;

/// Fewer cases with a class say nothing about it, and fewer with both classes nothing about their distance.
constexpr std::size_t kFewestCases = 8, kFewestPairs = 5;
constexpr double kDeviations = 1.5;        // by which a class may lie elsewhere than expected
constexpr double kLeastInView = 0.25;      // of its usual extent
constexpr double kMostVolumeSpread = 1.1;  // deviation of the logarithm of the volume: a factor of 3

/// The box of a class along each axis of (D, H, W), in mm from the low corner of the volume.
struct ClassBox {
  std::array<std::array<double, 2>, 3> ends_mm{};
  std::array<std::array<bool, 2>, 3> at_border{};  // the class may go on beyond this end
  double voxels = 0;
};

struct CaseView {
  std::array<double, 3> extent_mm{}, voxel_mm{};
  std::vector<std::optional<ClassBox>> classes;  // none: no voxel
  bool has(std::size_t c) const { return classes[c].has_value(); }
};

CaseView view_of(const Json& record, std::size_t classes) {
  CaseView view{.classes = std::vector<std::optional<ClassBox>>(classes)};
  for (std::size_t a = 0; a < 3; ++a) {
    view.voxel_mm[a] = record.at("spacing_mm").at(2 - a).get<double>();  // it is in the order x, y, z
    view.extent_mm[a] = record.at("shape").at(a).get<double>() * view.voxel_mm[a];
  }
  for (std::size_t c = 1; c < classes; ++c) {
    const Json& box = record.at("class_boxes").at(c);
    if (box.is_null()) continue;
    ClassBox& found = view.classes[c].emplace();
    found.voxels = record.at("class_voxels").at(c).get<double>();
    for (std::size_t a = 0; a < 3; ++a)
      for (std::size_t e = 0; e < 2; ++e) {
        const auto voxel = box.at(3 * e + a).get<std::int64_t>();
        found.ends_mm[a][e] = static_cast<double>(voxel) * view.voxel_mm[a];
        found.at_border[a][e] = voxel == (e == 0 ? 0 : record.at("shape").at(a).get<std::int64_t>());
      }
  }
  return view;
}

double median(std::vector<double> values) {
  std::ranges::sort(values);
  const std::size_t half = values.size() / 2;
  return values.size() % 2 == 1 ? values[half] : (values[half - 1] + values[half]) / 2;
}

/// A place and how far it varies: 1.4826 times the median absolute deviation, that of a normal distribution.
struct Place {
  double at = 0, deviation = 0;
};

Place place_of(const std::vector<double>& values) {
  Place place{.at = median(values)};
  std::vector<double> apart;
  for (const double v : values) apart.push_back(std::abs(v - place.at));
  place.deviation = 1.4826 * median(std::move(apart));
  return place;
}

/// The place of a class in a case without it, told by the cases that have it.
class ClassPlaces {
 public:
  /// `with`: the cases that have class `c`.
  ClassPlaces(const std::vector<const CaseView*>& with, std::size_t c)
      : why_anywhere_(why_empty_anywhere(with, c)), anchors_(with.empty() ? 0 : with.front()->classes.size()) {
    if (why_anywhere_) return;
    apart_.resize(3 * 2 * anchors_ * 2);
    for (std::size_t axis = 0; axis < 3; ++axis) {
      std::vector<double> extents;
      for (const CaseView* other : with) {
        const auto& ends = other->classes[c]->ends_mm[axis];
        extents.push_back(ends[1] - ends[0]);
      }
      extents_[axis] = median(std::move(extents));
      for (std::size_t end = 0; end < 2; ++end)
        for (std::size_t anchor = 1; anchor < anchors_; ++anchor)
          for (std::size_t side = 0; side < 2; ++side)
            apart_[index(axis, end, anchor, side)] = apart(with, c, axis, {end, anchor, side});
    }
  }

  /// Returns why the class counts as empty in a case; nothing when it must be in view.
  std::optional<std::string> why_empty(const CaseView& mine) const {
    if (why_anywhere_) return why_anywhere_;
    for (std::size_t axis = 0; axis < 3; ++axis)
      if (const auto why = why_empty_along(mine, axis)) return why;
    return std::nullopt;
  }

 private:
  /// An end of the class, and a side of another class from which its distance is taken.
  struct Pair {
    std::size_t end, anchor, side;
  };

  static std::optional<std::string> why_empty_anywhere(const std::vector<const CaseView*>& with, std::size_t c) {
    if (with.size() < kFewestCases) return "in fewer than " + std::to_string(kFewestCases) + " cases";
    std::vector<double> volumes;
    for (const CaseView* other : with)
      volumes.push_back(
          std::log(other->classes[c]->voxels * other->voxel_mm[0] * other->voxel_mm[1] * other->voxel_mm[2]));
    if (place_of(volumes).deviation > kMostVolumeSpread) return "of no steady size";
    return std::nullopt;
  }

  static std::optional<Place> apart(const std::vector<const CaseView*>& with, std::size_t c, std::size_t axis,
                                    const Pair& pair) {
    std::vector<double> values;
    for (const CaseView* other : with)
      if (other->has(pair.anchor) && !other->classes[pair.anchor]->at_border[axis][pair.side] &&
          !other->classes[c]->at_border[axis][pair.end])
        values.push_back(other->classes[c]->ends_mm[axis][pair.end] -
                         other->classes[pair.anchor]->ends_mm[axis][pair.side]);
    return values.size() < kFewestPairs ? std::nullopt : std::optional(place_of(values));
  }

  std::size_t index(std::size_t axis, std::size_t end, std::size_t anchor, std::size_t side) const {
    return ((axis * 2 + end) * anchors_ + anchor) * 2 + side;
  }

  std::optional<std::string> why_empty_along(const CaseView& mine, std::size_t axis) const {
    const double extent = extents_[axis];
    const std::optional<Place> low = end_of(mine, axis, 0), high = end_of(mine, axis, 1);
    if (!low && !high) return "beside no other class";
    // An end that always lies at the border is beyond it here too.
    double from = low ? low->at : 0, to = high ? high->at : mine.extent_mm[axis];
    if (low && high && to - from < extent) {  // each end is told by itself: together they may make it too short
      const double middle = (from + to) / 2;
      from = middle - extent / 2, to = middle + extent / 2;
    }
    const double deviation = std::max(low ? low->deviation : 0, high ? high->deviation : 0);
    if (deviation > extent) return "of no steady place";
    for (const double moved : {-kDeviations * deviation, kDeviations * deviation})
      if (std::min(to + moved, mine.extent_mm[axis]) - std::max(from + moved, 0.0) < kLeastInView * extent)
        return "its place is out of view";
    return std::nullopt;
  }

  /// Returns where an end of the class lies along an axis, by the end of another class that tells it best.
  std::optional<Place> end_of(const CaseView& mine, std::size_t axis, std::size_t end) const {
    std::optional<Place> best;
    for (std::size_t anchor = 1; anchor < anchors_; ++anchor)
      for (std::size_t side = 0; side < 2 && mine.has(anchor); ++side) {
        std::optional<Place> place = apart_[index(axis, end, anchor, side)];
        if (!place || mine.classes[anchor]->at_border[axis][side]) continue;
        place->at += mine.classes[anchor]->ends_mm[axis][side];
        place->deviation = std::max(place->deviation, mine.voxel_mm[axis]);
        if (!best || place->deviation < best->deviation) best = place;
      }
    return best;
  }

  std::optional<std::string> why_anywhere_;
  std::size_t anchors_;                        // classes, with the background
  std::array<double, 3> extents_{};            // the median extent of the class, in mm
  std::vector<std::optional<Place>> apart_{};  // by index(): the distance of an end from a side of another class
};

}  // namespace

void note_classes(const Tensor& labels, int classes, Json& record) {
  const auto count = static_cast<std::size_t>(classes);
  const Shape& shape = labels.shape();
  std::vector<std::int64_t> voxels(count, 0);
  std::vector<std::array<std::int64_t, 6>> boxes(count, {shape[0], shape[1], shape[2], 0, 0, 0});
  with_labels(labels, [&](const auto* label) {
    for (std::int64_t d = 0; d < shape[0]; ++d)
      for (std::int64_t h = 0; h < shape[1]; ++h, label += shape[2])
        for_each_run(label, shape[2], [&](auto found, std::int64_t begin, std::int64_t end) {
          if (found >= classes) return;
          const auto c = static_cast<std::size_t>(found);
          voxels[c] += end - begin;
          if (c == 0) return;
          const std::int64_t low[3] = {d, h, begin}, high[3] = {d + 1, h + 1, end};
          for (std::size_t a = 0; a < 3; ++a) {
            boxes[c][a] = std::min(boxes[c][a], low[a]);
            boxes[c][3 + a] = std::max(boxes[c][3 + a], high[a]);
          }
        });
  });
  record["class_voxels"] = voxels;
  Json& listed = record["class_boxes"] = Json::array();
  for (std::size_t c = 0; c < count; ++c) listed.push_back(c > 0 && voxels[c] > 0 ? Json(boxes[c]) : Json());
}

std::vector<MissingClass> decide_missing(Json& records, const std::vector<std::string>& names, MissingClasses rule) {
  std::vector<CaseView> views;
  for (const Json& record : records) views.push_back(view_of(record, names.size()));
  std::vector<std::vector<std::string>> known(views.size());  // by case
  std::vector<MissingClass> decided;
  for (std::size_t c = 1; c < names.size(); ++c) {
    MissingClass one{.name = names[c]};
    std::vector<const CaseView*> others;
    for (const CaseView& view : views)
      if (view.has(c)) others.push_back(&view);
    one.cases_with = static_cast<int>(others.size());
    std::optional<ClassPlaces> places;  // once they are asked for
    const auto why_empty = [&](const CaseView& mine) -> std::optional<std::string> {
      if (rule == MissingClasses::kUnknown) return std::nullopt;
      if (rule == MissingClasses::kBackground) return "as chosen";
      if (!places) places.emplace(others, c);
      return places->why_empty(mine);
    };
    for (std::size_t i = 0; i < views.size(); ++i) {
      const bool judged = !views[i].has(c) && !records[i].contains("annotated");
      const auto why = judged ? why_empty(views[i]) : std::nullopt;
      one.unknown += judged && !why, one.empty += judged && why;
      if (why) ++one.why[*why];
      if (!judged || why) known[i].push_back(names[c]);
    }
    if (one.cases_with < static_cast<int>(views.size())) decided.push_back(std::move(one));
  }
  for (std::size_t i = 0; i < views.size(); ++i)
    if (!records[i].contains("annotated") && known[i].size() + 1 < names.size()) records[i]["annotated"] = known[i];
  return decided;
}

Setting missing_classes_setting(std::optional<MissingClasses>& rule) {
  const std::vector<std::string> names(std::begin(kMissingClassesNames), std::end(kMissingClassesNames));
  return {.name = "missing-classes",
          .help =
              "What a class without a voxel in a case is, where dataset.json does not say what was annotated. unknown; "
              "background: truly not there; auto: unknown where it would be in view by the classes around it in the "
              "other cases; default: auto, with {convention} nnunet background",
          .value =
              [&rule, names](const std::string& text) {
                rule = static_cast<MissingClasses>(std::ranges::find(names, text) - names.begin());
              },
          .choices = names};
}

Json to_json(const std::vector<MissingClass>& classes) {
  Json json = Json::array();
  for (const MissingClass& c : classes)
    json.push_back(
        {{"class", c.name}, {"cases_with", c.cases_with}, {"unknown", c.unknown}, {"empty", c.empty}, {"why", c.why}});
  return json;
}

std::string to_text(const std::vector<MissingClass>& classes, MissingClasses rule) {
  std::string text;
  for (const MissingClass& c : classes) {
    if (c.unknown + c.empty == 0) continue;  // the data set says what it is
    std::string reasons;
    for (const auto& [why, cases] : c.why)
      reasons += (reasons.empty() ? " (" : ", ") + why + (c.why.size() > 1 ? ": " + std::to_string(cases) : "");
    text += c.name + ": " + std::to_string(c.cases_with) + " cases have it; of those without, " +
            std::to_string(c.unknown) + " count as not annotated, " + std::to_string(c.empty) + " as empty" + reasons +
            (reasons.empty() ? "\n" : ")\n");
  }
  if (!text.empty())
    text += std::string("decided by {missing-classes} ") + kMissingClassesNames[static_cast<std::size_t>(rule)] +
            "; \"annotated\" in dataset.json says it case by case\n";
  return text;
}

}  // namespace voxshard
