// The setting about slices and axes that are no upright regular grid, which is the same for every command that reads
// volumes.
//
//   settings.push_back(irregular_setting(o.irregular));
//   VolumeFormats formats = with_irregular(o.formats, o.irregular);
#pragma once

#include "io/volume/volume.h"
#include "pipelines/settings/setting.h"

namespace voxshard {

/// Returns the setting that says what becomes of irregular slices and sheared axes.
Setting irregular_setting(IrregularSlices& irregular, const std::string& group = "");

/// Returns formats that follow this choice, with the limits of `formats`. Those that reject stay as they are.
VolumeFormats with_irregular(VolumeFormats formats, IrregularSlices irregular);

}  // namespace voxshard
