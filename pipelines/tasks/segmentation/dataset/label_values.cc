#include "pipelines/tasks/segmentation/dataset/label_values.h"

#include <map>
#include <nlohmann/json.hpp>
#include <set>

#include "io/files/now_reading.h"
#include "pipelines/engine/case_pass.h"
#include "pipelines/tasks/segmentation/dataset/case_memory.h"

namespace voxshard {
namespace {

using Json = nlohmann::ordered_json;

/// Returns the labels of a map; none when a value is no label.
std::set<int> labels_in(const Volume& map) {
  std::set<int> labels;
  const auto* v = map.voxels.as<std::int32_t>();
  std::int32_t last = 0;
  for (std::int64_t i = 0; i < map.voxels.count(); ++i) {
    if (v[i] == last) continue;
    last = v[i];
    if (last < 0 || last > kMostLabelValue) return {};
    labels.insert(last);
  }
  labels.erase(0);
  return labels;
}

}  // namespace

std::vector<std::string> class_names_from_values(const std::vector<Case>& cases, const VolumeFormats& formats,
                                                 const RunContext& context, MemoryGate& gate) {
  std::vector<std::set<int>> found(cases.size());
  std::vector<std::string> names;  // of the cases in messages: their ids are not made yet
  for (std::size_t i = 0; i < cases.size(); ++i) names.push_back(std::to_string(i + 1));
  const auto plan = [&](std::int64_t i) { return evaluating_case_plan({.reference = *cases[i].label}, formats); };
  CasePass pass("classes", names, context, gate, nullptr);
  pass.run({.need = plan,
            .body =
                [&](std::int64_t i) {
                  const auto at = static_cast<std::size_t>(i);
                  const ReadingAs name("label map " + names[at]);
                  found[at] = labels_in(read_label(*cases[at].label, formats));
                },
            .value = [&](std::int64_t i) { return Json(found[i]); },
            .take = [&](std::int64_t i, const Json& value) { value.get_to(found[i]); },
            .size = [&](std::int64_t i) { return plan(i).total(); }});
  if (pass.stopped()) throw Stopped();
  std::map<int, int> cases_with;
  for (const std::set<int>& labels : found)
    for (const int label : labels) ++cases_with[label];
  if (cases_with.empty())
    throw Error(ErrorKind::kNoCase, "[input] none of " + std::to_string(cases.size()) +
                                        " label maps can be read and holds a label from 1 to " +
                                        std::to_string(kMostLabelValue) + "; are these the images?");
  std::vector<std::string> classes = {"background"};
  for (int label = 1; label <= cases_with.rbegin()->first; ++label) classes.push_back("class_" + std::to_string(label));
  std::string text;
  for (const auto& [label, count] : cases_with)
    text += (text.empty() ? "" : ", ") + std::to_string(label) + " in " + std::to_string(count);
  context.progress().log("classes are the labels that are there: " + text + " of " + std::to_string(cases.size()) +
                         " cases; {classes} map.toml names them");
  return classes;
}

}  // namespace voxshard
