#include "io/datasets/annotated.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <set>

#include "io/files/file_error.h"
#include "io/files/file_name.h"

namespace voxshard {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

Case* find_case(Dataset& dataset, const std::string& id) {
  for (auto* cases : {&dataset.training, &dataset.test})
    for (Case& item : *cases)
      if (item.id == id) return &item;
  return nullptr;
}

}  // namespace

std::vector<int> annotated_classes(const std::vector<std::string>& names, const std::vector<std::string>& classes,
                                   const fs::path& file) {
  std::set<int> numbers;
  for (const std::string& name : names) {
    const auto at = std::ranges::find(classes, name);
    if (at == classes.end())
      throw input_error(file, "lists the class \"" + shown_name(name) + "\" as annotated, which is none of its labels",
                        "write it as under \"labels\"");
    if (at != classes.begin()) numbers.insert(static_cast<int>(at - classes.begin()));
  }
  return {numbers.begin(), numbers.end()};
}

void read_annotated(const json& root, const fs::path& file, IdsInErrors ids, Dataset& dataset) {
  if (!root.contains("annotated")) return;
  const auto is_names = [](const json& value) {
    return value.is_array() && std::ranges::all_of(value, [](const json& name) { return name.is_string(); });
  };
  const json& all = root.at("annotated");
  if (!all.is_object() || !std::ranges::all_of(all, is_names))
    throw input_error(file, "has a key \"annotated\" of another form",
                      R"(expected {"annotated": {"CASE": ["CLASS", ...]}})");
  for (const auto& [id, names] : all.items()) {
    const std::string shown = shown_name(id);
    const auto numbers = annotated_classes(names.get<std::vector<std::string>>(), dataset.label_names, file);
    if (Case* item = find_case(dataset, id); item != nullptr)
      item->annotated = numbers;
    else if (std::ranges::none_of(dataset.problems, [&](const CaseProblem& p) { return p.id == shown; }))
      throw input_error(file,
                        "lists annotated classes of " +
                            (ids == IdsInErrors::kHidden ? "a case" : "the case \"" + shown + "\",") +
                            " which it does not have",
                        "correct the name");
  }
}

nlohmann::ordered_json annotated_json(const Dataset& dataset) {
  nlohmann::ordered_json all = nlohmann::ordered_json::object();
  for (const auto* cases : {&dataset.training, &dataset.test})
    for (const Case& item : *cases) {
      if (!item.annotated) continue;
      nlohmann::ordered_json names = nlohmann::ordered_json::array();
      for (const int label : *item.annotated) names.push_back(dataset.label_names.at(label));
      all[item.id] = names;
    }
  return all;
}

std::optional<std::vector<int>> unless_all(std::vector<int> annotated, int classes) {
  if (std::ssize(annotated) + 1 >= classes) return std::nullopt;
  return annotated;
}

bool is_annotated(const std::optional<std::vector<int>>& annotated, int label) {
  return !annotated || std::ranges::count(*annotated, label) > 0;
}

}  // namespace voxshard
