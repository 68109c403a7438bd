// NIfTI, read and written through ITK, after a check of the header and of every byte that the header promises, because
// ITK reads a truncated .nii.gz without an error. Errors in addition to those of io/volume/volume.h: 4-D or more,
// colour or complex, a sheared sform (over 0.5 degrees) without qform.
//
//   VolumeFormats formats = {.rows = {nifti_format()}};
#pragma once

#include "io/volume/volume.h"

namespace voxshard {

/// Reads NIfTI-1 with slope and intercept applied (slope 0 or NaN: none); writes it with qform = sform, both code 1,
/// gzip time 0, no free text in the header.
VolumeFormat nifti_format();

}  // namespace voxshard
