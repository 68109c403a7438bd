// Why a case would be left out, as far as the headers of its files tell: for dry runs, which read no voxel.
//
//   header_failures(dataset.training[0], formats)        // {"case_3", "E_GEOMETRY", "the label has ..."}
#pragma once

#include <vector>

#include "io/datasets/dataset.h"
#include "io/volume/volume.h"
#include "pipelines/model_runs/report.h"

namespace voxshard {

/// Returns the codes and texts with which prepare would leave the case out: files that cannot be used, channels and
/// labels on other grids. Empty for a case that is usable by its headers.
///   resamples_channels  channels on other grids are resampled, as in PreparePlan
std::vector<CaseFailure> header_failures(const Case& item, const VolumeFormats& formats, bool resamples_channels);

}  // namespace voxshard
