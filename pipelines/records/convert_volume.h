// One volume of any format to a NIfTI file, for `voxshard convert SERIES -o ct.nii.gz`.
//
//   TaskReport r = convert_volume("study/series", "ct.nii.gz");
#pragma once

#include "pipelines/engine/requests.h"

namespace voxshard {

/// Reads an image and writes it with the same voxels and geometry: as int16 when all values are whole numbers that fit,
/// else as float32. Errors: kInput as read_image; kOutput, also for an output that is the input.
TaskReport convert_volume(const std::filesystem::path& input, const std::filesystem::path& output,
                          const VolumeFormats& formats = volume_formats());

}  // namespace voxshard
