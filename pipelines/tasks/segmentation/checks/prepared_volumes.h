// The rules of `check` that need no more than what `prepare` knows of each case when it ends: the volumes of its
// classes.
//
//   options.judge = odd_volumes;       // "W_VOLUME SpinalCord (2) has 419.0 ml; usual in the other cases: 16.2 ml"
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "pipelines/model_runs/report.h"

namespace voxshard {

/// Returns the cases with a class whose volume is far from the usual one, as find_odd_volumes() does; none in sets of
/// few cases.
///   records  of prepared cases, with "case", "spacing_mm" and "class_voxels"
std::vector<CaseFailure> odd_volumes(const nlohmann::ordered_json& records,
                                     const std::vector<std::string>& class_names);

}  // namespace voxshard
