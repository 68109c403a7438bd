// What images and volumes of classes take on their way to the cores, from their sizes alone.
//
//   const ProcessPlan plan = held + reading_items_plan(pixels, 2, preparation) + samples_plan({64, 28, 28}, 1);
#pragma once

#include "pipelines/model_runs/process_plan.h"
#include "pipelines/tasks/classification/samples/class_preparation.h"

namespace voxshard {

/// So many items of at most so many pixels or voxels, as they are decoded, turned, scaled and made f32; of clips the
/// decoder and one frame of each, what is made of them being the sample.
ProcessPlan reading_items_plan(std::int64_t points, std::int64_t in_flight, const ClassPreparation& preparation);

/// The same of items that are looked at whole, clips as all of their frames.
ProcessPlan reading_whole_plan(std::int64_t points, std::int64_t in_flight, const ClassPreparation& preparation);

/// The samples of a batch of these extents (N and the spatial axes), f32.
ProcessPlan samples_plan(const Shape& extents, std::int64_t channels);

/// A confusion matrix of so many classes as it is counted, and as JSON.
ProcessPlan confusion_plan(std::int64_t classes);

/// Predictions as JSON and as numbers, and the data set they are held against. What is not there counts nothing:
/// reading says why.
ProcessPlan evaluating_classes_plan(const std::filesystem::path& predictions, const std::filesystem::path& references,
                                    const ClassKinds& kinds = class_kinds());

}  // namespace voxshard
