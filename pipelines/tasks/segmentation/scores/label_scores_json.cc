// The JSON of a LabelScores: means, thresholds, cases and failures.
#include <nlohmann/json.hpp>

#include "pipelines/tasks/segmentation/scores/evaluate_labels.h"

namespace voxshard {

using Json = nlohmann::ordered_json;

Json to_json(const LabelScores& report) {
  const OverlapMetrics& metrics = report.metrics;
  Json json;
  for (std::size_t m = 0; m < metrics.size(); ++m)
    json[std::string("mean_") + metrics[m].key] = json_number(report.means[m]);
  if (report.baseline_mean_dice) json["threshold_mean_dice"] = json_number(*report.baseline_mean_dice);
  json["rule"] = rules_of(metrics) + " per case, then the mean over cases; both empty: null, left out of the mean";
  json["classes"] = Json::array();
  for (const auto& c : report.classes) {
    json["classes"].push_back({{"label", c.label}, {"name", c.name}});
    for (std::size_t m = 0; m < metrics.size(); ++m) json["classes"].back()[metrics[m].key] = json_number(c.means[m]);
    if (!c.baseline_dice) continue;
    const auto& t = report.thresholds[c.label];
    json["classes"].back()["threshold_dice"] = json_number(*c.baseline_dice);
    json["classes"].back()["threshold_hu"] = {t.low_hu, t.high_hu};
  }
  json["cases"] = Json::array();
  for (const auto& c : report.cases) {
    json["cases"].push_back({{"case", c.id}});
    for (const OverlapMetric& metric : metrics)
      for (const auto& [label, s] : c.scores.classes)
        json["cases"].back()[metric.key].push_back(json_number(s.scores.at(metric.name)));
  }
  json["failed"] = report.failures.size();
  json["failures"] = to_json(report.failures);
  if (report.seen.any()) add_counts(json, report.seen);
  return json;
}

}  // namespace voxshard
