#include "libcore/metrics/surface/label_metrics.h"

#include <algorithm>
#include <cmath>

namespace voxshard {
namespace {

constexpr double kMlPerMm3 = 1e-3;

std::int64_t predicted(const ComparedClass& c) { return c.counts.tp + c.counts.fp; }
std::int64_t true_voxels(const ComparedClass& c) { return c.counts.tp + c.counts.fn; }
bool in_neither(const ComparedClass& c) { return predicted(c) == 0 && true_voxels(c) == 0; }
bool in_one(const ComparedClass& c) { return (predicted(c) == 0) != (true_voxels(c) == 0); }

double volume_difference_ml(const ComparedClass& c) {
  return static_cast<double>(predicted(c) - true_voxels(c)) * c.voxel_mm3 * kMlPerMm3;
}

double relative_volume_difference(const ComparedClass& c) {
  if (in_neither(c)) return c.empty->average_of_none;
  if (true_voxels(c) == 0) return c.empty->distance_to_nothing;
  return static_cast<double>(predicted(c) - true_voxels(c)) / static_cast<double>(true_voxels(c));
}

double nsd_or_rule(const ComparedClass& c) {
  if (in_neither(c)) return c.empty->overlap_of_none;
  return in_one(c) ? 0 : nsd(*c.surfaces);
}

/// A distance between surfaces, or what the rule says of the empty ones.
template <double (*kDistance)(const SurfaceDistances&), double EmptyRule::*kOfNone>
double distance_or_rule(const ComparedClass& c) {
  if (in_neither(c)) return c.empty->*kOfNone;
  return in_one(c) ? c.empty->distance_to_nothing : kDistance(*c.surfaces);
}

LabelMetric metric_of(const OverlapMetric& overlap) {
  const auto of = [score = overlap.of, higher = overlap.higher_is_better](const ComparedClass& c) {
    const double value = score(c.counts);
    return higher && std::isnan(value) && in_neither(c) ? c.empty->overlap_of_none : value;
  };
  return {.shown = {.name = overlap.name,
                    .key = overlap.key,
                    .unit = overlap.unit,
                    .rule = overlap.rule,
                    .higher_is_better = overlap.higher_is_better,
                    .has_mean = overlap.has_mean,
                    .digits = overlap.digits,
                    .of = of}};
}

const LabelMetrics& volume_and_surface_metrics() {
  static const LabelMetrics kMetrics = {
      {.shown = {.name = "VD",
                 .key = "vd",
                 .unit = "ml",
                 .rule = "predicted - true volume",
                 .higher_is_better = false,
                 .of = volume_difference_ml}},
      {.shown = {.name = "RVD",
                 .key = "rvd",
                 .rule = "(predicted - true volume)/true volume",
                 .higher_is_better = false,
                 .of = relative_volume_difference}},
      {.shown = {.name = "NSD", .key = "nsd", .rule = "share of both surfaces within the tolerance", .of = nsd_or_rule},
       .of_surfaces = true},
      {.shown = {.name = "HD",
                 .key = "hd",
                 .unit = "mm",
                 .rule = "largest distance of the surfaces",
                 .higher_is_better = false,
                 .of = distance_or_rule<hausdorff, &EmptyRule::hausdorff_of_none>},
       .of_surfaces = true},
      {.shown = {.name = "HD95",
                 .key = "hd95",
                 .unit = "mm",
                 .rule = "larger 95th percentile of both directions",
                 .higher_is_better = false,
                 .of = distance_or_rule<hausdorff_percentile, &EmptyRule::hausdorff_of_none>},
       .of_surfaces = true},
      {.shown = {.name = "ASSD",
                 .key = "assd",
                 .unit = "mm",
                 .rule = "mean distance over both surfaces",
                 .higher_is_better = false,
                 .of = distance_or_rule<average_distance, &EmptyRule::average_of_none>},
       .of_surfaces = true}};
  return kMetrics;
}

}  // namespace

LabelMetrics metrics_of(const OverlapMetrics& overlap) {
  LabelMetrics metrics;
  for (const OverlapMetric& one : overlap) metrics.push_back(metric_of(one));
  return metrics;
}

LabelMetrics all_label_metrics(const OverlapMetrics& overlap) {
  LabelMetrics metrics = metrics_of(overlap);
  const LabelMetrics& others = volume_and_surface_metrics();
  metrics.insert(metrics.end(), others.begin(), others.end());
  return metrics;
}

LabelMetrics chosen_metrics(const std::vector<std::string>& keys, const OverlapMetrics& overlap) {
  if (keys.empty()) return metrics_of(overlap);
  const LabelMetrics all = all_label_metrics(overlap);
  LabelMetrics chosen;
  for (const std::string& key : keys) {
    const auto has_key = [&](const LabelMetric& m) { return key == m.shown.key; };
    const auto found = std::find_if(all.begin(), all.end(), has_key);
    if (found == all.end() || std::any_of(chosen.begin(), chosen.end(), has_key)) {
      std::string known;
      for (const LabelMetric& m : all) known += (known.empty() ? "" : ",") + std::string(m.shown.key);
      throw Error(ErrorKind::kUsage, "[usage] {metrics} has \"" + key + "\"" + (found == all.end() ? "" : " twice") +
                                         "; expected some of " + known);
    }
    chosen.push_back(*found);
  }
  return chosen;
}

bool any_of_surfaces(const LabelMetrics& metrics) {
  return std::any_of(metrics.begin(), metrics.end(), [](const LabelMetric& m) { return m.of_surfaces; });
}

std::string rules_of(const LabelMetrics& metrics) {
  std::string rules;
  for (const LabelMetric& metric : metrics)
    if (*metric.shown.rule != '\0')
      rules += (rules.empty() ? "" : ", ") + std::string(metric.shown.name) + " " + metric.shown.rule;
  return rules;
}

}  // namespace voxshard
