// NIfTI-1 and NIfTI-2: one file or a pair, either byte order, plain or gzip. Errors in addition to those of
// io/volume/volume.h: 4-D or more, colour, complex or 128-bit floats, a sheared sform (over 0.5 degrees) without qform.
//
//   VolumeFormats formats = {.rows = {nifti_format()}};
#pragma once

#include "io/volume/volume.h"

namespace voxshard {

/// Reads with slope and intercept applied (slope 0 or NaN: none); writes NIfTI-1 with qform = sform, both
/// code 1, gzip time 0, no free text in the header.
///   irregular  kResample reads sheared axes (E_SHEAR) on an upright regular grid (upright.h)
VolumeFormat nifti_format(IrregularSlices irregular = IrregularSlices::kReject);

}  // namespace voxshard
