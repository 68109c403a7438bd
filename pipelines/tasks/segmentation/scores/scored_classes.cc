#include "pipelines/tasks/segmentation/scores/scored_classes.h"

#include <algorithm>
#include <charconv>

#include "io/files/file_name.h"
#include "libcore/base/error.h"
#include "libcore/base/text.h"

namespace voxshard {
namespace {

[[noreturn]] void refuse_region(const std::string& what) {
  throw Error(
      ErrorKind::kUsage,
      "[usage] {region} " + what + "; expected NAME=LABEL,LABEL, several joined by semicolons: tumour=1,2,3;core=2,3");
}

std::string labels_text(const std::vector<int>& labels) {
  return joined(labels, ", ", [](int label) { return std::to_string(label); });
}

int label_from(const std::string& text) {
  int label = 0;
  const auto [end, wrong] = std::from_chars(text.data(), text.data() + text.size(), label);
  if (wrong != std::errc() || end != text.data() + text.size() || label < 1 || label > kHighestLabel)
    refuse_region("has the label \"" + shown_name(text) + "\"");
  return label;
}

LabelRegion named_region(const std::string& name, const std::vector<LabelRegion>& others) {
  if (const std::string problem = name.empty() ? "is empty" : text_problem(name); !problem.empty())
    refuse_region("has a name that " + problem);
  if (std::ranges::count(others, name, &LabelRegion::name) > 0) refuse_region("names \"" + name + "\" twice");
  return {.name = name, .labels = {}};
}

ScoredClass scored_region(const LabelRegion& region, int id, bool in_mean) {
  return {.id = id, .name = region.name, .labels = region.labels, .is_region = true, .in_mean = in_mean};
}

}  // namespace

bool ScoredClass::is_annotated(const std::optional<std::vector<int>>& annotated) const {
  return !annotated ||
         std::ranges::all_of(labels, [&](int label) { return std::ranges::count(*annotated, label) > 0; });
}

std::string ScoredClass::shown_name() const { return is_region ? name + " (" + labels_text(labels) + ")" : name; }

std::vector<ScoredClass> scored_classes(const ScoredClassesOf& of) {
  std::vector<ScoredClass> scored;
  int id = std::max(of.classes, kHighestLabel) + 1;
  for (const LabelRegion& region : of.regions) scored.push_back(scored_region(region, id++, true));
  for (int c = 1; c < of.classes && of.regions.empty(); ++c)
    scored.push_back(
        {.id = c, .name = c < static_cast<int>(of.names.size()) ? of.names[c] : std::to_string(c), .labels = {c}});
  for (const LabelRegion& region : of.asked) {
    for (const int label : region.labels)
      if (of.has_dataset && label >= of.classes)
        refuse_region("has the label " + std::to_string(label) + ", which the data set does not have");
    scored.push_back(scored_region(region, id++, false));
  }
  return scored;
}

std::vector<LabelRegion> regions_from_text(const std::string& text) {
  std::vector<LabelRegion> regions;
  std::string rest = text;
  while (!rest.empty()) {
    const std::size_t end = rest.find_first_of(",;");
    std::string part = rest.substr(0, end);
    rest = end == std::string::npos ? "" : rest.substr(end + 1);
    if (const std::size_t equals = part.find('='); equals != std::string::npos) {
      if (!regions.empty() && regions.back().labels.empty()) refuse_region("has a region without a label");
      regions.push_back(named_region(part.substr(0, equals), regions));
      part = part.substr(equals + 1);
    }
    if (regions.empty()) refuse_region("is \"" + shown_name(text) + "\"");
    const int label = label_from(part);
    if (std::ranges::count(regions.back().labels, label) > 0)
      refuse_region("has the label " + std::to_string(label) + " twice");
    regions.back().labels.push_back(label);
  }
  if (regions.empty()) refuse_region("is empty");
  return regions;
}

SummaryClasses summary_classes(const std::vector<ScoredClass>& scored) {
  SummaryClasses keys;
  for (const ScoredClass& one : scored) {
    const bool single = one.labels.size() == 1;
    std::string key = labels_text(one.labels);
    if (!single) key = "(" + key + ")";
    if (single && !one.in_mean) key = "(" + key + ",)";  // beside the class of this label
    keys[one.id] = {.key = key, .in_mean = one.in_mean};
  }
  return keys;
}

}  // namespace voxshard
