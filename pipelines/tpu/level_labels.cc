#include "pipelines/tpu/level_labels.h"

#include <algorithm>
#include <array>

#include "libcore/base/error.h"
#include "libcore/base/spelling.h"
#include "libcore/base/text.h"

namespace voxshard {
namespace {

using Kind = InputPlacement::Kind;

constexpr std::array kNeverCut = {"mean_num_positives", "source_ids", "groundtruth_data", "image_scales", "image_info"};

Error refusal(const std::string& what) {
  return Error(ErrorKind::kConfig, "[tpu_config] input_partition_dims[1] (labels) " + what);
}

/// Returns the model's name of a target, "class_targets/3" for "cls_targets_3"; other names unchanged.
std::string model_name(std::string name) {
  if (name.starts_with("cls_")) name.replace(0, 3, "class");
  const std::size_t level = name.find_last_of('_');
  if (name.find('/') == std::string::npos && level != std::string::npos && name.find("_targets_") != std::string::npos)
    name[level] = '/';
  return name;
}

/// Returns "cls_targets_3" for "class_targets/3".
std::string original_name(std::string name) {
  if (name.starts_with("class_")) name.replace(0, 5, "cls");
  std::replace(name.begin(), name.end(), '/', '_');
  return name;
}

InputPlacement placement_of(const std::string& name, const TensorDims& dims, const Dims& partition) {
  if (!dims) return {.kind = Kind::kReplicated};
  std::string text;
  for (const std::int64_t parts : *dims) text += (text.empty() ? "" : ", ") + std::to_string(parts);
  const std::string entry = "has [" + text + "] for \"" + name + "\"";
  for (const std::int64_t parts : *dims)
    if (parts < 1) throw refusal(entry + "; every entry must be at least 1");
  if (std::all_of(dims->begin(), dims->end(), [](std::int64_t parts) { return parts == 1; }))
    return {.kind = Kind::kFirstCore};
  Dims grid;
  for (const std::int64_t parts : *dims)
    if (grid.axes() < partition.axes()) grid.push_back(parts);
  if (static_cast<int>(dims->size()) != partition.axes() || grid != partition)
    throw refusal(entry + ", but the image is cut " + to_string(partition) +
                  "; a level's targets are cut as the image or, with None, not at all");
  return {.kind = Kind::kCut, .grid = grid};
}

}  // namespace

bool names_levels(const TpuConfig& config) {
  if (!config.input_partition_dims || config.input_partition_dims->one_list ||
      config.input_partition_dims->elements.size() < 2)
    return false;
  const auto& labels = config.input_partition_dims->elements[1];
  return labels && !labels->contains("") && !(labels->size() == 1 && labels->contains("labels"));
}

std::vector<PlacedInput> level_placements(const TpuConfig& config, const std::vector<std::string>& targets,
                                          const Dims& partition) {
  std::map<std::string, InputPlacement> placed;
  std::vector<std::string> known;
  for (const std::string& target : targets) known.push_back(original_name(target));
  const std::vector<std::string> levels = known;
  for (const char* name : kNeverCut) known.push_back(name);
  for (const auto& [name, dims] : *config.input_partition_dims->elements.at(1)) {
    const std::string target = model_name(name);
    if (std::find(kNeverCut.begin(), kNeverCut.end(), name) != kNeverCut.end()) {
      if (dims) throw refusal("has dims for \"" + name + "\", which no core of the model reads; write None");
    } else if (std::find(targets.begin(), targets.end(), target) == targets.end()) {
      throw refusal("has an entry for \"" + name + "\", which is none of the labels: " + joined(known, ", ") +
                    "; did you mean " + nearest_name(name, known) + "?");
    } else if (!placed.emplace(target, placement_of(name, dims, partition)).second) {
      throw refusal("has two entries for \"" + original_name(target) + "\"; keep one");
    }
  }
  std::vector<PlacedInput> inputs;
  for (const std::string& target : targets) {
    if (!placed.contains(target))
      throw refusal("has no entry for \"" + original_name(target) + "\"; the labels are " + joined(levels, ", ") +
                    ", each with dims or None");
    inputs.push_back({target, placed.at(target)});
  }
  return inputs;
}

}  // namespace voxshard
