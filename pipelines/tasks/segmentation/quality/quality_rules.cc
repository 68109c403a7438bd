#include "pipelines/tasks/segmentation/quality/quality_rules.h"

#include <cmath>

#include "io/files/file_name.h"
#include "libcore/base/text.h"

namespace voxshard {
namespace {

using Flags = std::vector<QualityFlag>;
using Names = std::vector<std::string>;

constexpr double kMm3OfMl = 1000;
constexpr const char* kAxisNames[] = {"from right to left", "from front to back", "from foot to head"};

/// "Mandible (5)".
std::string named_class(const Names& names, std::size_t label_class) {
  return shown_name(names.at(label_class)) + " (" + std::to_string(label_class) + ")";
}

/// Adds flag(seen, range, class) for each class that is judged, where it is one.
template <class Flag>
void for_each_class(const QualityFacts& facts, const QualityRanges& ranges, const Flag& flag) {
  for (std::size_t c = 1; c < ranges.classes.size(); ++c)
    if (ranges.classes[c].enough()) flag(facts.labels.classes.at(c), ranges.classes[c], c);
}

Flags find_cut_view(const QualityFacts& facts, const QualityRanges& ranges, const Names& names) {
  Flags flags;
  for (std::size_t a = 0; a < 3; ++a)
    if (facts.labels.view_mm[a] < kLeastViewShare * ranges.least_view_mm[a])
      flags.push_back({"W_VIEW", 0,
                       "the image shows " + fixed_text(facts.labels.view_mm[a], 0) + " mm " + kAxisNames[a] +
                           "; the least of the training cases: " + fixed_text(ranges.least_view_mm[a], 0) + " mm"});
  for_each_class(facts, ranges, [&](const ClassSeen& seen, const ClassRange& range, std::size_t c) {
    if (!range.always) return;  // a view that leaves it out is as usual as one that ends within it
    const double usual_mm2 = std::pow(std::exp(range.log_ml.median) * kMm3OfMl, 2.0 / 3);
    for (std::size_t b = 0; b < kBorders; ++b)
      if (seen.border_mm2[b] > kMostBorderFactor * range.border_mm2[b] + kBorderShare * usual_mm2)
        flags.push_back({"W_VIEW", static_cast<int>(c),
                         named_class(names, c) + " meets the border of the image on the side of the " +
                             kBorderNames[b] + ", with " + fixed_text(seen.border_mm2[b], 0) +
                             " mm^2; the most of the training cases: " + fixed_text(range.border_mm2[b], 0) + " mm^2"});
  });
  return flags;
}

Flags find_absent(const QualityFacts& facts, const QualityRanges& ranges, const Names& names) {
  Flags flags;
  for_each_class(facts, ranges, [&](const ClassSeen& seen, const ClassRange& range, std::size_t c) {
    if (seen.voxels == 0 && range.always)
      flags.push_back({"W_ABSENT", static_cast<int>(c),
                       named_class(names, c) + " is missing; all " + std::to_string(range.cases) +
                           " training cases with annotations of it have it"});
  });
  return flags;
}

Flags find_far_volumes(const QualityFacts& facts, const QualityRanges& ranges, const Names& names) {
  Flags flags;
  for_each_class(facts, ranges, [&](const ClassSeen& seen, const ClassRange& range, std::size_t c) {
    if (seen.voxels == 0) return;
    const double score = (std::log(seen.volume_ml) - range.log_ml.median) / range.log_ml.deviation;
    const bool is_far = score > kMostFlagScore || (range.always && score < -kMostFlagScore);  // none of it may be usual
    if (is_far)
      flags.push_back({"W_VOLUME", static_cast<int>(c),
                       named_class(names, c) + " has " + fixed_text(seen.volume_ml, 1) +
                           " ml; usual in the training cases: " + fixed_text(std::exp(range.log_ml.median), 1) +
                           " ml"});
  });
  return flags;
}

Flags find_scattered(const QualityFacts& facts, const QualityRanges& ranges, const Names& names) {
  Flags flags;
  for_each_class(facts, ranges, [&](const ClassSeen& seen, const ClassRange& range, std::size_t c) {
    if (!seen.parts || !range.parts) return;
    const double most = kMostPartsFactor * static_cast<double>(*range.parts) + static_cast<double>(kFurtherParts);
    if (static_cast<double>(*seen.parts) > most)
      flags.push_back({"W_PARTS", static_cast<int>(c),
                       named_class(names, c) + " lies in " + std::to_string(*seen.parts) + " parts of at least " +
                           fixed_text(range.least_part_ml, 2) +
                           " ml; the most of the training cases: " + std::to_string(*range.parts)});
  });
  return flags;
}

Flags find_displaced(const QualityFacts& facts, const QualityRanges& ranges, const Names& names) {
  Flags flags;
  const std::vector<std::size_t> others = ranges.in_all_cases();
  for_each_class(facts, ranges, [&](const ClassSeen&, const ClassRange& range, std::size_t c) {
    const auto place = range.place_mm ? class_place(facts.labels, c, others) : std::nullopt;
    if (!place) return;
    std::string text;
    for (std::size_t a = 0; a < 3; ++a) {
      const double off_mm = (*place)[a] - (*range.place_mm)[a].median;
      if (std::abs(off_mm) <= kMostPlaceScore * (*range.place_mm)[a].deviation) continue;
      text += (text.empty() ? "" : " and ") + fixed_text(std::abs(off_mm), 0) + " mm " + kPlaceWords[a][off_mm > 0];
    }
    if (!text.empty())
      flags.push_back({"W_PLACE", static_cast<int>(c),
                       named_class(names, c) + " lies " + text +
                           " its place among the other classes that is usual in the training cases"});
  });
  return flags;
}

Flags find_far_intensities(const QualityFacts& facts, const QualityRanges& ranges, const Names&) {
  Flags flags;
  for (std::size_t channel = 0; channel < ranges.channels.size(); ++channel) {
    const IntensityRange& range = ranges.channels[channel];
    if (range.usual.empty()) continue;
    const double distance = quantile_distance(facts.channels.at(channel), range.usual);
    if (distance <= range.most_distance) continue;
    const std::string of = ranges.channels.size() > 1 ? " of channel " + std::to_string(channel) : "";
    const double usual = range.usual_distance;
    flags.push_back({"W_HISTOGRAM", 0,
                     std::isinf(distance) ? "all intensities" + of + " lie at the ends of their range"
                                          : "the intensities" + of + " lie " + fixed_text(distance / usual, 1) +
                                                " times as far from those of the training cases as is usual; the most "
                                                "that is not told: " +
                                                fixed_text(range.most_distance / usual, 1)});
  }
  return flags;
}

}  // namespace

const std::vector<QualityRule>& quality_rules() {
  static const std::vector<QualityRule> rules = {{"W_VIEW", find_cut_view},      {"W_ABSENT", find_absent},
                                                 {"W_VOLUME", find_far_volumes}, {"W_PARTS", find_scattered},
                                                 {"W_PLACE", find_displaced},    {"W_HISTOGRAM", find_far_intensities}};
  return rules;
}

std::vector<QualityFlag> quality_flags(const QualityFacts& facts, const QualityRanges& ranges,
                                       const std::vector<std::string>& class_names) {
  std::vector<QualityFlag> flags;
  if (!ranges.enough()) return flags;
  for (const QualityRule& rule : quality_rules())
    for (QualityFlag& flag : rule.flags(facts, ranges, class_names)) flags.push_back(std::move(flag));
  return flags;
}

}  // namespace voxshard
