// How a trained run takes volumes, and which runs can be averaged voxel by voxel.
//
//   require_averageable(run);
//   const VolumeModel model = volume_model_of(run);
#pragma once

#include "pipelines/model_runs/averaged_runs.h"
#include "pipelines/tasks/segmentation/dataset/prepare_plan.h"
#include "pipelines/tasks/segmentation/quality/quality_ranges.h"
#include "pipelines/tasks/segmentation/sides/side_rule.h"

namespace voxshard {

struct VolumeModel {
  PreparePlan plan;
  SideRule sides;
  std::optional<QualityRanges> quality;  // what is usual of its training cases; none: a run of before
  std::int64_t multiple = 1;             // of the extents of a prediction
  std::int64_t classes = 0;              // of the network
};

/// Errors: kCheckpoint for a run that does not say how its volumes were prepared.
VolumeModel volume_model_of(const TrainedRun& run);

/// Refuses a run and its others whose probabilities cannot be averaged voxel by voxel. Label maps, not probabilities,
/// are resampled to the grids of the files, so that all must see an image on one grid; intensities, networks and cuts
/// may differ. Where classes are told apart by their side, the rule of the first run places the plane. Errors: kUsage.
void require_averageable(const TrainedRun& run);

/// Refuses a run whose label maps are not made of probabilities on the grid of the files, voxel by voxel: nnU-Net's
/// convention resamples labels by linear masks, and joined classes are told apart behind the network. Errors: kUsage.
void require_probabilities(const TrainedRun& run);

}  // namespace voxshard
