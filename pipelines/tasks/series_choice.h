// The setting about several reconstructions of one scan, which is the same for every command that predicts or learns
// from a tree of DICOM series.
//
//   settings.push_back(series_setting(o.best_series));
#pragma once

#include "pipelines/settings/setting.h"

namespace voxshard {

/// Returns the setting that says whether the best reconstruction of each scan is taken (io/dicom/same_scan.h), or all.
Setting series_setting(bool& best, const std::string& group = "");

}  // namespace voxshard
