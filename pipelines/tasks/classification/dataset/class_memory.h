// The memory of a data set with classes, from the sizes of its items alone.
//
//   const ProcessPlan plan = held_plan(set);
#pragma once

#include "pipelines/model_runs/process_plan.h"
#include "pipelines/tasks/classification/dataset/class_dataset.h"

namespace voxshard {

/// Returns the bytes of an item, its name and path included.
double item_bytes(const ClassItem& item);

/// Returns the bytes of the pixels of IDX images (N, H, W), and of an item for each.
double idx_bytes(const Shape& extents, const std::filesystem::path& images);

/// Returns the memory that a data set holds all the time: its items, the pixels of IDX files, the indices of videos.
ProcessPlan held_plan(const ClassDataset& set);

/// Returns the number of pixels or voxels of the largest item.
std::int64_t most_points(const ClassDataset& set);

}  // namespace voxshard
