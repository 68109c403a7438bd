#include "io/datasets/regions.h"

#include <algorithm>
#include <functional>
#include <nlohmann/json.hpp>
#include <set>

#include "io/files/file_error.h"
#include "io/files/file_name.h"
#include "libcore/base/plain_text.h"

namespace voxshard {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

constexpr int kMostLabel = 99999;
constexpr std::size_t kMostRegions = 1000;

[[noreturn]] void refuse_regions(const fs::path& file, const std::string& what) {
  throw input_error(file, what, "expected regions as nnU-Net has them: lists of labels, and regions_class_order");
}

int region_label(const json& value, const fs::path& file) {
  if (!value.is_number_integer() || value < 0 || value > kMostLabel)
    refuse_regions(file,
                   "has a region with a label that is not a whole number from 0 to " + std::to_string(kMostLabel));
  return value.get<int>();
}

/// Returns the labels of a region: ascending, each once, none of them 0.
std::vector<int> region_labels(const json& value, const fs::path& file) {
  std::set<int> labels;
  if (!value.is_array()) {
    labels.insert(region_label(value, file));
  } else {
    if (value.size() > kMostRegions)
      refuse_regions(file, "has a region of " + std::to_string(value.size()) + " labels");
    for (const json& one : value) labels.insert(region_label(one, file));
  }
  if (labels.empty() || *labels.begin() == 0)
    refuse_regions(file, "has a region without labels, or with the background");
  return {labels.begin(), labels.end()};
}

/// Throws unless the file orders its regions, as nnU-Net wants it.
void require_order(const json& root, const fs::path& file, std::size_t regions) {
  const json order = root.value("regions_class_order", json());
  if (!order.is_array() || order.size() != regions)
    refuse_regions(file, "has " + std::to_string(regions) + " regions and no regions_class_order of as many labels");
  for (const json& one : order) region_label(one, file);
}

}  // namespace

bool has_regions(const json& labels) {
  return std::any_of(labels.begin(), labels.end(), [](const json& value) { return value.is_array(); });
}

std::map<int, std::string> take_regions(const json& root, const fs::path& file, Dataset& d) {
  std::map<int, std::string> names;
  int highest = 0;
  const json& labels = root.at("labels");
  if (labels.size() > kMostRegions) refuse_regions(file, "has " + std::to_string(labels.size()) + " regions");
  for (const auto& [name, value] : labels.items()) {
    if (const std::string problem = text_problem(name); !problem.empty())
      refuse_regions(file, "names one of its regions \"" + shown_name(name) + "\", which " + problem);
    const bool background = value == 0 || value == json::array({0});
    if (background || name == "ignore") {
      if (!names.emplace(region_label(background ? json(0) : value, file), name).second)
        refuse_regions(file, "gives two labels the same number");
      continue;
    }
    d.regions.push_back({name, region_labels(value, file)});
    highest = std::max(highest, d.regions.back().labels.back());
  }
  require_order(root, file, d.regions.size());
  for (const LabelRegion& region : d.regions)
    if (region.labels.size() == 1) names.emplace(region.labels.front(), region.name);
  const auto is_taken = [&](const std::string& name) { return labels.contains(name); };
  for (const LabelRegion& region : d.regions)
    for (const int label : region.labels) {
      std::string name = "class_" + std::to_string(label);
      while (is_taken(name)) name += "_";
      names.emplace(label, name);
    }
  if (labels.contains("ignore") && region_label(labels.at("ignore"), file) <= highest)
    refuse_regions(file, "gives the ignored label a number that a region has");
  sort_regions(d.regions);
  return names;
}

void sort_regions(std::vector<LabelRegion>& regions) {
  std::ranges::stable_sort(regions, std::ranges::greater(), [](const LabelRegion& one) { return one.labels.size(); });
}

void add_regions(const Dataset& d, nlohmann::ordered_json& root) {
  root["labels"] = {{d.label_names.front(), 0}};
  root["regions_class_order"] = nlohmann::ordered_json::array();
  for (std::size_t r = 0; r < d.regions.size(); ++r) {
    const LabelRegion& region = d.regions[r];
    root["labels"][region.name] = region.labels;
    const auto is_own = [&](int label) {
      return std::none_of(d.regions.begin() + static_cast<std::ptrdiff_t>(r) + 1, d.regions.end(),
                          [&](const LabelRegion& later) { return std::ranges::count(later.labels, label) > 0; });
    };
    const auto own = std::find_if(region.labels.begin(), region.labels.end(), is_own);
    root["regions_class_order"].push_back(own == region.labels.end() ? region.labels.front() : *own);
  }
  if (d.ignore_label) root["labels"]["ignore"] = *d.ignore_label;
}

}  // namespace voxshard
