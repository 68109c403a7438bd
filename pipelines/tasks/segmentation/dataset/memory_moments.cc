#include "pipelines/tasks/segmentation/dataset/memory_moments.h"

#include "io/datasets/case_label.h"

namespace voxshard {

std::optional<VolumeInfo> usable_info(const std::filesystem::path& path, const VolumeFormats& formats) {
  try {
    VolumeInfo info = read_volume_info(path, formats);
    if (info.readable) return info;
  } catch (const Error&) {  // reading reports it
  }
  return std::nullopt;
}

std::optional<VolumeInfo> usable_label(const Case& item, const VolumeInfo& image, const VolumeFormats& formats) {
  try {
    VolumeInfo info = read_label_info(item, image, formats);
    if (info.readable) return info;
  } catch (const Error&) {  // reading reports it
  }
  return std::nullopt;
}

/// Returns the plan of one stage from any number of parts and their bytes.
ProcessPlan moment(std::initializer_list<std::pair<MemoryPart, double>> parts) {
  ProcessPlan plan;
  for (const auto& [part, bytes] : parts) plan[part] += planned_bytes(bytes);
  return plan;
}

ProcessPlan widest_of(std::initializer_list<ProcessPlan> moments) {
  ProcessPlan most;
  for (const ProcessPlan& one : moments) most = widest(most, one);
  return most;
}

double reading(const VolumeInfo& info) { return static_cast<double>(reading_bytes(info)); }

std::string whole_number(double value) { return std::to_string(planned_bytes(value)); }

}  // namespace voxshard
