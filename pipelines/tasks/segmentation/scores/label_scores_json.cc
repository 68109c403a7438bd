// The JSON of a LabelScores: means, thresholds, cases and failures. A score without a value is null, an infinite one
// "inf"; what was chosen (metrics, convention, rule of empty classes) is stated where something was.
#include <cmath>
#include <nlohmann/json.hpp>

#include "pipelines/tasks/segmentation/scores/evaluate_labels.h"
#include "pipelines/tasks/segmentation/scores/missed_labels.h"

namespace voxshard {
namespace {

using Json = nlohmann::ordered_json;

Json score_json(double score) { return std::isinf(score) ? Json(score > 0 ? "inf" : "-inf") : json_number(score); }

Json class_json(const ScoredClass& scored) {
  Json json = Json::object();
  if (scored.is_region)
    json["labels"] = scored.labels;
  else
    json["label"] = scored.id;
  json["name"] = scored.name;
  return json;
}

void add_rules(Json& json, const ScoringRules& rules) {
  json["empty"] = rules.empty->name;
  if (!any_of_surfaces(rules.metrics)) return;
  json["surface"] = {{"convention", rules.surface.convention->name},
                     {"rule", rules.surface.convention->rule},
                     {"tolerance_mm", rules.surface.tolerance_mm}};
}

}  // namespace

Json to_json(const LabelScores& report) {
  const LabelMetrics& metrics = report.rules.metrics;
  Json json;
  for (std::size_t m = 0; m < metrics.size(); ++m)
    json[std::string("mean_") + metrics[m].shown.key] = score_json(report.means[m]);
  if (report.baseline_mean_dice) json["threshold_mean_dice"] = json_number(*report.baseline_mean_dice);
  json["rule"] = rules_of(metrics) + " per case, then the mean over cases; " + report.rules.empty->text;
  if (report.states_rules) add_rules(json, report.rules);
  if (report.partly_annotated)
    json["rule"] = json["rule"].get<std::string>() + "; null too where a class was not annotated in a case";
  for (std::size_t m = 0; m < metrics.size() && report.partly_annotated; ++m)
    json["all_cases"][std::string("mean_") + metrics[m].shown.key] = score_json(report.all_means[m]);
  json["classes"] = Json::array();
  for (const auto& c : report.classes) {
    Json& one = json["classes"].emplace_back(class_json(c.scored));
    for (std::size_t m = 0; m < metrics.size(); ++m) one[metrics[m].shown.key] = score_json(c.means[m]);
    for (std::size_t m = 0; m < metrics.size() && report.states_counts(); ++m)
      one["n"][metrics[m].shown.key] = c.cases[m];
    if (report.partly_annotated) one["annotated"] = c.annotated;
    for (std::size_t m = 0; m < metrics.size() && report.partly_annotated; ++m)
      one["all_cases"][metrics[m].shown.key] = score_json(c.all_means[m]);
    if (!c.baseline_dice) continue;
    const auto& t = report.thresholds[c.scored.id];
    one["threshold_dice"] = json_number(*c.baseline_dice);
    one["threshold_hu"] = {t.low_hu, t.high_hu};
  }
  if (const auto found = found_where_none(report); !found.empty()) json["found_without"] = found;
  json["cases"] = Json::array();
  for (const auto& c : report.cases) {
    json["cases"].push_back({{"case", c.id}});
    for (const LabelMetric& metric : metrics)
      for (const auto& [label, s] : c.scores.classes)
        json["cases"].back()[metric.shown.key].push_back(score_json(s.scores.at(metric.shown.name)));
  }
  json["failed"] = report.failures.size();
  json["failures"] = to_json(report.failures);
  if (report.seen.any()) add_counts(json, report.seen);
  return json;
}

}  // namespace voxshard
