// How trained runs of classifiers take their items, and which runs can be averaged item by item.
//
//   const std::vector<ClassPreparation> preparations = class_preparations_of(run);   // of the run and its others
#pragma once

#include "pipelines/model_runs/averaged_runs.h"
#include "pipelines/tasks/classification/samples/class_preparation.h"

namespace voxshard {

/// Returns the preparations of a run and its others. Those of images and volumes may differ in size and intensities,
/// those of clips, whose windows are shared, in intensities. Errors: kCheckpoint for a run that does not say how its
/// items were prepared; kUsage for runs that differ in classes, items or channels.
std::vector<ClassPreparation> class_preparations_of(const TrainedRun& run);

}  // namespace voxshard
