// The moments of a case, from headers: each holds some parts of memory, and the widest is what the case takes.
//
//   widest_of({moment({{kReading, reading(label)}}), moment({{kReading, 4 * n + reading(image)}})})
#pragma once

#include <initializer_list>
#include <optional>
#include <string>
#include <utility>

#include "io/datasets/dataset.h"
#include "io/volume/volume.h"
#include "pipelines/model_runs/process_plan.h"

namespace voxshard {

/// Bytes of a voxel of an image, and of a label map that is not packed, in memory.
inline constexpr double kVoxelBytes = 4;

/// Returns the header of a volume, or of the labels of a case, or nothing when it cannot be used, which reading
/// reports.
std::optional<VolumeInfo> usable_info(const std::filesystem::path& path, const VolumeFormats& formats);
std::optional<VolumeInfo> usable_label(const Case& item, const VolumeInfo& image, const VolumeFormats& formats);

/// Returns the plan of one moment from any number of parts and their bytes.
ProcessPlan moment(std::initializer_list<std::pair<MemoryPart, double>> parts);
ProcessPlan widest_of(std::initializer_list<ProcessPlan> moments);

/// Returns the bytes that reading a volume takes, with the volume.
double reading(const VolumeInfo& info);

/// Returns bytes or voxels for a message.
std::string whole_number(double value);

}  // namespace voxshard
