// One volume of any format to a NIfTI file, for `voxshard convert SERIES -o ct.nii.gz`.
//
//   TaskReport r = convert_volume("study/series", "ct.nii.gz");
#pragma once

#include "pipelines/engine/requests.h"
#include "pipelines/records/provenance.h"

namespace voxshard {

/// Returns int16 when all values are whole numbers that fit, else float32.
DiskType lossless_type(const Volume& image);
/// Returns the smallest of uint8, int16 and int32 that holds all labels.
DiskType lossless_label_type(const Volume& label);

/// Reads an image and writes it with the same voxels and geometry: as lossless_type(), with its provenance beside it
/// when that is asked for.
/// Errors: kInput as read_image; kOutput, also for an output that is the input.
TaskReport convert_volume(const std::filesystem::path& input, const std::filesystem::path& output,
                          const VolumeFormats& formats = volume_formats(), Provenance provenance = Provenance::kNone);

}  // namespace voxshard
