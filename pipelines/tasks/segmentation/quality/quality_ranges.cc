#include "pipelines/tasks/segmentation/quality/quality_ranges.h"

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "libcore/base/error.h"
#include "pipelines/model_runs/run_preparation.h"

namespace voxshard {
namespace {

using Json = nlohmann::ordered_json;

/// The least deviation of the distances of intensities that counts, as a share of their median; and the least median,
/// as a share of the distance between the outer quantiles, for images that are nearly alike.
constexpr double kDistanceFloor = 0.1, kLeastDistance = 0.01;

double median_of(std::vector<double> values) {
  const std::size_t n = values.size();
  std::sort(values.begin(), values.end());
  return (values[(n - 1) / 2] + values[n / 2]) / 2;
}

bool is_annotated(const QualityFacts& facts, int label_class) {
  return !facts.annotated || std::ranges::count(*facts.annotated, label_class) > 0;
}

ClassRange class_range(const std::vector<QualityFacts>& cases, std::size_t label_class, double least_part_ml) {
  ClassRange range{.parts = 0, .least_part_ml = least_part_ml};
  std::vector<double> log_ml;
  std::int64_t annotated = 0;
  for (const QualityFacts& facts : cases) {
    if (!is_annotated(facts, static_cast<int>(label_class))) continue;
    ++annotated;
    const ClassSeen& seen = facts.labels.classes.at(label_class);
    if (seen.voxels == 0) continue;
    log_ml.push_back(std::log(seen.volume_ml));
    for (std::size_t b = 0; b < kBorders; ++b) range.border_mm2[b] = std::max(range.border_mm2[b], seen.border_mm2[b]);
    range.parts = range.parts && seen.parts ? std::optional(std::max(*range.parts, *seen.parts)) : std::nullopt;
  }
  range.cases = std::ssize(log_ml);
  range.always = range.enough() && annotated == range.cases;
  if (!range.enough()) return {.cases = range.cases};
  range.log_ml = *LeaveOneOut(std::move(log_ml)).usual();
  range.log_ml.deviation = std::max(range.log_ml.deviation, kLogVolumeFloor);
  return range;
}

/// Returns what is usual of the place of a class; none where too few cases tell it.
std::optional<std::array<Usual, 3>> place_range(const std::vector<QualityFacts>& cases, std::size_t label_class,
                                                const std::vector<std::size_t>& others) {
  std::array<std::vector<double>, 3> places;
  for (const QualityFacts& facts : cases)
    if (is_annotated(facts, static_cast<int>(label_class)))
      if (const auto place = class_place(facts.labels, label_class, others))
        for (std::size_t a = 0; a < 3; ++a) places[a].push_back((*place)[a]);
  std::array<Usual, 3> range;
  for (std::size_t a = 0; a < 3; ++a) {
    const auto usual = LeaveOneOut(std::move(places[a])).usual();
    if (!usual) return std::nullopt;
    range[a] = {usual->median, std::max(usual->deviation, kPlaceFloorMm)};
  }
  return range;
}

/// Returns the median over the cases of each quantile.
///   skipped  a case that is left out; the number of cases skips none
Quantiles middle_of(const std::vector<Quantiles>& cases, std::size_t skipped) {
  Quantiles middle;
  for (std::size_t q = 0; q < kQuantiles; ++q) {
    std::vector<double> values;
    for (std::size_t i = 0; i < cases.size(); ++i)
      if (i != skipped) values.push_back(static_cast<double>(cases[i][q]));
    middle.push_back(static_cast<float>(median_of(std::move(values))));
  }
  return middle;
}

IntensityRange intensity_range(const std::vector<QualityFacts>& cases, std::size_t channel) {
  std::vector<Quantiles> found;
  for (const QualityFacts& facts : cases)
    if (!facts.channels.at(channel).empty()) found.push_back(facts.channels[channel]);
  if (found.size() < kFewestOthers) return {};
  std::vector<double> distances;
  for (std::size_t i = 0; i < found.size(); ++i) distances.push_back(quantile_distance(found[i], middle_of(found, i)));
  const Usual usual = *LeaveOneOut(std::move(distances)).usual();
  IntensityRange range{.usual = middle_of(found, found.size())};
  const double spread = static_cast<double>(range.usual.back()) - static_cast<double>(range.usual.front());
  range.usual_distance = std::max(usual.median, kLeastDistance * spread);
  if (!(range.usual_distance > 0)) return {};
  range.most_distance =
      range.usual_distance + kMostDistanceScore * std::max(usual.deviation, kDistanceFloor * range.usual_distance);
  return range;
}

[[noreturn]] void refuse(const std::string& what) {
  throw Error(ErrorKind::kCheckpoint,
              std::string("[checkpoint] its ") + kUsualCases + " are broken: " + what + "; train anew");
}

/// Reads a finite number that is not too large. Errors: json::exception, kCheckpoint.
double quality_number(const nlohmann::json& json, const char* what) {
  constexpr double kMost = 1e12;  // mm^2 of a square of 1 km
  const auto number = json.get<double>();
  if (!(std::abs(number) <= kMost)) refuse(std::string(what) + " is no usable number");
  return number;
}

std::int64_t quality_count(const nlohmann::json& json, const char* what) {
  const auto count = json.is_number_integer() ? json.get<std::int64_t>() : -1;  // 1e300 has no int64 at all
  if (count < 0) refuse(std::string(what) + " is no number of things");
  return count;
}

template <std::size_t N>
std::array<double, N> quality_numbers(const nlohmann::json& json, const char* what) {
  if (!json.is_array() || json.size() != N) refuse(std::string(what) + " is no list of " + std::to_string(N));
  std::array<double, N> numbers{};
  for (std::size_t i = 0; i < N; ++i) numbers[i] = quality_number(json[i], what);
  return numbers;
}

std::array<Usual, 3> place_range_from(const nlohmann::json& json) {
  const auto medians = quality_numbers<3>(json.at("median"), "place_mm"),
             deviations = quality_numbers<3>(json.at("deviation"), "place_mm");
  std::array<Usual, 3> range;
  for (std::size_t a = 0; a < 3; ++a) range[a] = {medians[a], std::max(kPlaceFloorMm, deviations[a])};
  return range;
}

ClassRange class_range_from(const nlohmann::json& json) {
  ClassRange range{.cases = quality_count(json.at("cases"), "cases")};
  if (!range.enough()) return range;
  range.always = json.at("always").get<bool>();
  range.log_ml = {quality_number(json.at("log_ml"), "log_ml"),
                  std::max(kLogVolumeFloor, quality_number(json.at("deviation"), "deviation"))};
  range.border_mm2 = quality_numbers<kBorders>(json.at("border_mm2"), "border_mm2");
  if (!json.at("parts").is_null()) range.parts = quality_count(json.at("parts"), "parts");
  range.least_part_ml = quality_number(json.at("least_part_ml"), "least_part_ml");
  if (const auto place = json.find("place_mm"); place != json.end()) range.place_mm = place_range_from(*place);
  return range;
}

IntensityRange intensity_range_from(const nlohmann::json& json) {
  IntensityRange range;
  if (json.is_null()) return range;
  for (const double value : quality_numbers<kQuantiles>(json.at("quantiles"), "quantiles"))
    range.usual.push_back(static_cast<float>(value));
  range.usual_distance = quality_number(json.at("usual_distance"), "usual_distance");
  range.most_distance = quality_number(json.at("most_distance"), "most_distance");
  if (!(range.usual_distance > 0)) refuse("usual_distance is no distance");
  return range;
}

}  // namespace

std::vector<std::size_t> QualityRanges::in_all_cases() const {
  std::vector<std::size_t> found;
  for (std::size_t c = 1; c < classes.size(); ++c)
    if (classes[c].enough() && classes[c].cases == cases) found.push_back(c);
  return found;
}

std::optional<std::array<double, 3>> class_place(const LabelFacts& facts, std::size_t label_class,
                                                 const std::vector<std::size_t>& others) {
  std::array<std::vector<double>, 3> centres;
  for (const std::size_t other : others) {
    if (other == label_class) continue;
    if (facts.classes.at(other).voxels == 0) return std::nullopt;
    for (std::size_t a = 0; a < 3; ++a) centres[a].push_back(facts.classes[other].centre_mm[a]);
  }
  const ClassSeen& own = facts.classes.at(label_class);
  if (own.voxels == 0 || centres[0].empty()) return std::nullopt;
  std::array<double, 3> place{};
  for (std::size_t a = 0; a < 3; ++a) place[a] = own.centre_mm[a] - median_of(std::move(centres[a]));
  return place;
}

std::vector<double> least_part_ml(const std::vector<std::vector<double>>& volumes_ml) {
  std::vector<double> least;
  for (const std::vector<double>& of_class : volumes_ml)
    least.push_back(of_class.empty() ? 0 : kLeastPartShare * median_of(of_class));
  return least;
}

QualityRanges fit_ranges(const std::vector<QualityFacts>& cases, const std::vector<double>& least_part_ml) {
  QualityRanges ranges{.cases = std::ssize(cases)};
  if (!ranges.enough()) return ranges;
  ranges.least_view_mm = cases.front().labels.view_mm;
  for (const QualityFacts& facts : cases)
    for (std::size_t a = 0; a < 3; ++a)
      ranges.least_view_mm[a] = std::min(ranges.least_view_mm[a], facts.labels.view_mm[a]);
  ranges.classes.resize(least_part_ml.size());
  for (std::size_t c = 1; c < ranges.classes.size(); ++c) ranges.classes[c] = class_range(cases, c, least_part_ml[c]);
  const std::vector<std::size_t> others = ranges.in_all_cases();
  for (std::size_t c = 1; c < ranges.classes.size(); ++c)
    if (ranges.classes[c].enough()) ranges.classes[c].place_mm = place_range(cases, c, others);
  for (std::size_t channel = 0; channel < cases.front().channels.size(); ++channel)
    ranges.channels.push_back(intensity_range(cases, channel));
  return ranges;
}

Json to_json(const QualityRanges& ranges) {
  Json json = {{"cases", ranges.cases}};
  if (!ranges.enough()) return json;
  json["least_view_mm"] = ranges.least_view_mm;
  json["classes"] = Json::array();
  for (std::size_t c = 1; c < ranges.classes.size(); ++c) {
    const ClassRange& range = ranges.classes[c];
    Json& one = json["classes"].emplace_back(Json{{"cases", range.cases}});
    if (!range.enough()) continue;
    one["always"] = range.always, one["log_ml"] = range.log_ml.median, one["deviation"] = range.log_ml.deviation;
    one["border_mm2"] = range.border_mm2;
    one["parts"] = range.parts ? Json(*range.parts) : Json();
    one["least_part_ml"] = range.least_part_ml;
    if (!range.place_mm) continue;
    Json median = Json::array(), deviation = Json::array();
    for (const Usual& usual : *range.place_mm) median.push_back(usual.median), deviation.push_back(usual.deviation);
    one["place_mm"] = {{"median", std::move(median)}, {"deviation", std::move(deviation)}};
  }
  json["channels"] = Json::array();
  for (const IntensityRange& range : ranges.channels)
    json["channels"].push_back(range.usual.empty() ? Json()
                                                   : Json{{"quantiles", range.usual},
                                                          {"usual_distance", range.usual_distance},
                                                          {"most_distance", range.most_distance}});
  return json;
}

std::optional<QualityRanges> quality_ranges_of(const nlohmann::json& preparation, std::size_t classes,
                                               std::size_t channels) {
  const auto found = preparation.find(kUsualCases);
  if (found == preparation.end()) return std::nullopt;
  try {
    QualityRanges ranges{.cases = quality_count(found->at("cases"), "cases")};
    if (!ranges.enough()) return ranges;
    ranges.least_view_mm = quality_numbers<3>(found->at("least_view_mm"), "least_view_mm");
    const nlohmann::json &of_classes = found->at("classes"), &of_channels = found->at("channels");
    if (!of_classes.is_array() || of_classes.size() + 1 != classes || !of_channels.is_array() ||
        of_channels.size() != channels)
      refuse("they are of other classes or channels");
    ranges.classes.emplace_back();
    for (const nlohmann::json& one : of_classes) ranges.classes.push_back(class_range_from(one));
    for (const nlohmann::json& one : of_channels) ranges.channels.push_back(intensity_range_from(one));
    return ranges;
  } catch (const nlohmann::json::exception& error) {
    refuse(error.what());
  }
}

}  // namespace voxshard
