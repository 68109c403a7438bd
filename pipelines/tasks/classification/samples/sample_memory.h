// The memory of a classifier's images and volumes on their way to the cores, from their sizes alone.
//
//   const ProcessPlan plan = held + reading_items_plan(pixels, 2, preparation) + samples_plan({64, 28, 28}, 1);
#pragma once

#include "pipelines/model_runs/process_plan.h"
#include "pipelines/tasks/classification/samples/class_preparation.h"

namespace voxshard {

/// Returns the memory of `in_flight` items of at most `points` pixels or voxels while they are decoded, reoriented,
/// scaled and converted to f32; for clips the decoder and one frame of each, since the rest is the sample itself.
ProcessPlan reading_items_plan(std::int64_t points, std::int64_t in_flight, const ClassPreparation& preparation);

/// Returns the same for items that are read completely; clips count with all of their frames.
ProcessPlan reading_whole_plan(std::int64_t points, std::int64_t in_flight, const ClassPreparation& preparation);

/// Returns the memory of the samples of a batch of these extents (N and the spatial axes), f32.
ProcessPlan samples_plan(const Shape& extents, std::int64_t channels);

/// Returns the memory of a confusion matrix of so many classes, as counts and as JSON.
ProcessPlan confusion_plan(std::int64_t classes);

/// Returns the memory of predictions, as JSON and as numbers, and of the reference data set. Missing files count 0;
/// reading reports them.
ProcessPlan evaluating_classes_plan(const std::filesystem::path& predictions, const std::filesystem::path& references,
                                    const ClassKinds& kinds = class_kinds());

}  // namespace voxshard
