// The checks that `prepare` shares with `check`: of the headers of a case for dry runs, which read no voxel, and of the
// volumes of classes, which `prepare` knows of each case when it ends.
//
//   header_failures(dataset.training[0], formats, false)   // {"case_3", "E_GEOMETRY", "the label has ..."}
//   options.judge = odd_volumes;       // "W_VOLUME SpinalCord (2) has 419.0 ml; usual in the other cases: 16.2 ml"
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "io/datasets/dataset.h"
#include "io/volume/volume.h"
#include "pipelines/model_runs/report.h"

namespace voxshard {

/// Returns the codes and texts with which prepare would leave the case out: files that cannot be used, channels and
/// labels on other grids. Empty for a case that is usable by its headers.
///   resamples_channels  channels on other grids are resampled, as in PreparePlan
std::vector<CaseFailure> header_failures(const Case& item, const VolumeFormats& formats, bool resamples_channels);

/// Returns the cases with a class whose volume is far from the usual one, as find_odd_volumes() does; none in sets of
/// few cases.
///   records  of prepared cases, with "case", "spacing_mm" and "class_voxels"
std::vector<CaseFailure> odd_volumes(const nlohmann::ordered_json& records,
                                     const std::vector<std::string>& class_names);

}  // namespace voxshard
