#include "pipelines/tasks/segmentation/metric_settings.h"

#include "libcore/base/text.h"
#include "pipelines/settings/word_list.h"

namespace voxshard {
std::vector<Setting> metric_settings(EvaluateLabelsOptions& o) {
  const std::string group = "Metrics of label maps";
  const auto key = [](const LabelMetric& metric) { return metric.shown.key; };
  return {{"metrics",
           "Metrics to compute, joined by commas, of " + joined(all_label_metrics(overlap_metrics()), ",", key) +
               "; default: " + joined(metrics_of(overlap_metrics()), ",", key),
           group,
           [&o](const std::string& text) {
             o.metric_keys = split_words(text, ',');  // an empty part is refused as a key, when they are chosen
           }},
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
           .choices = row_names(surface_conventions())},
          {.name = "empty",
           .help = "Scores of classes that are in neither map, or in one: nan, left out of means (nnU-Net); one, right "
                   "when in neither (MetricsReloaded); inf, infinitely far (surface-distance); default: nan",
           .group = group,
           .value = [&o](const std::string& text) { o.empty = find_empty_rule(text); },
           .choices = row_names(empty_rules())},
          {"region",
           "NAME=LABEL,LABEL,...: a union of classes that is scored beside them; several joined by semicolons, "
           "tumour=1,2,3;core=2,3; a data set with regions is scored by these",
           group, [&o](const std::string& text) { o.regions = regions_from_text(text); }}};
}

}  // namespace voxshard
