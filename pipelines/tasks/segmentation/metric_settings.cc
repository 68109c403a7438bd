#include "pipelines/tasks/segmentation/metric_settings.h"

#include "libcore/base/text.h"

namespace voxshard {
namespace {

/// "dice,hd95": the keys of metrics. An empty part is refused as a key, when the metrics are chosen.
std::vector<std::string> keys_of(const std::string& text) {
  std::vector<std::string> keys = {""};
  for (const char letter : text) {
    if (letter == ',')
      keys.emplace_back();
    else
      keys.back() += letter;
  }
  return keys;
}

std::vector<std::string> names_of(const auto& rows) {
  std::vector<std::string> names;
  for (const auto& row : rows) names.emplace_back(row.name);
  return names;
}

}  // namespace

std::vector<Setting> metric_settings(EvaluateLabelsOptions& o) {
  const std::string group = "Metrics of label maps";
  const auto key = [](const LabelMetric& metric) { return metric.shown.key; };
  return {{"metrics",
           "Metrics to compute, joined by commas, of " + joined(all_label_metrics(overlap_metrics()), ",", key) +
               "; default: " + joined(metrics_of(overlap_metrics()), ",", key),
           group, [&o](const std::string& text) { o.metric_keys = keys_of(text); }},
          {"tolerance-mm",
           "Distance up to which surfaces count as equal, in mm (nsd)",
           group,
           &o.surface.tolerance_mm,
           {{0, 1e6}}},
          {.name = "surface-convention",
           .help = "Elements of a surface: voxels, border voxels by number (MetricsReloaded, SciPy); surfels, pieces "
                   "between voxels by area (surface-distance); default: voxels",
           .group = group,
           .value = [&o](const std::string& text) { o.surface.convention = find_convention(text); },
           .choices = names_of(surface_conventions())},
          {.name = "empty",
           .help = "Scores of classes that are in neither map, or in one: nan, left out of means (nnU-Net); one, right "
                   "when in neither (MetricsReloaded); inf, infinitely far (surface-distance); default: nan",
           .group = group,
           .value = [&o](const std::string& text) { o.empty = find_empty_rule(text); },
           .choices = names_of(empty_rules())}};
}

}  // namespace voxshard
