// What a data set of classes holds, from the sizes of its items alone.
//
//   const ProcessPlan plan = held_plan(set);
#pragma once

#include "pipelines/model_runs/process_plan.h"
#include "pipelines/tasks/classification/dataset/class_dataset.h"

namespace voxshard {

/// An item, its name and path included.
double item_bytes(const ClassItem& item);

/// The pixels of IDX images (N, H, W), and an item of each.
double idx_bytes(const Shape& extents, const std::filesystem::path& images);

/// What a data set holds all the time: its items, the pixels of IDX files, the indices of videos.
ProcessPlan held_plan(const ClassDataset& set);

/// The most pixels or voxels of an item.
std::int64_t most_points(const ClassDataset& set);

}  // namespace voxshard
