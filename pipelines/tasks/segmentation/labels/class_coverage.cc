#include "pipelines/tasks/segmentation/labels/class_coverage.h"

#include <algorithm>
#include <nlohmann/json.hpp>

namespace voxshard {

using Json = nlohmann::ordered_json;

ClassCoverage class_coverage(const Json& records, const std::vector<std::string>& names) {
  ClassCoverage coverage;
  if (!names.empty()) coverage.classes.assign(names.begin() + 1, names.end());
  coverage.cases_with.assign(coverage.classes.size(), 0);
  for (const Json& record : records) {
    ++coverage.cases;
    const auto with = [&](const std::string& name) {
      return !record.contains("annotated") || std::ranges::count(record.at("annotated"), Json(name)) > 0;
    };
    coverage.complete += std::ranges::all_of(coverage.classes, with);
    for (std::size_t k = 0; k < coverage.classes.size(); ++k) coverage.cases_with[k] += with(coverage.classes[k]);
  }
  return coverage;
}

Json to_json(const ClassCoverage& coverage) {
  Json with = Json::object();
  for (std::size_t k = 0; k < coverage.classes.size(); ++k) with[coverage.classes[k]] = coverage.cases_with[k];
  return {{"cases", coverage.cases}, {"complete", coverage.complete}, {"cases_with", with}};
}

std::string to_text(const ClassCoverage& coverage) {
  if (coverage.complete == coverage.cases) return "";
  const std::string of = " of " + std::to_string(coverage.cases) + " cases";
  std::string text;
  for (std::size_t k = 0; k < coverage.classes.size(); ++k)
    if (coverage.cases_with[k] < coverage.cases)
      text += coverage.classes[k] + ": in " + std::to_string(coverage.cases_with[k]) + of + "\n";
  text +=
      "a class that was not contoured in a case may be anywhere in its background: training takes that for background "
      "or one of these ({unannotated} merge), or leaves it out ({unannotated} ignore); " +
      std::to_string(coverage.complete) + of + " have every class\n";
  if (coverage.complete == 0)
    text +=
        "W_BACKGROUND no case has every class: with {unannotated} ignore, as under {preset} reference, nothing would "
        "teach the background\n";
  return text;
}

}  // namespace voxshard
