// NRRD: .nrrd, and .nhdr with its voxels in a file of the same folder; raw or gzip. Errors in addition to those of
// io/volume/volume.h: other encodings, other than three axes of space, data in several files or in other folders.
// Format: teem.sourceforge.net/nrrd/format.html (NRRD0001 to NRRD0005).
//
//   VolumeFormats formats = {.rows = {nrrd_format()}};
#pragma once

#include "io/volume/volume.h"

namespace voxshard {

/// Reads the spaces RAS, LAS and LPS as LPS, in millimetres ("space units" are applied). A space that names no sides of
/// the body is taken for LPS, with a warning. Writes through ITK, gzip.
///   irregular  kResample reads sheared axes (E_SHEAR) on an upright regular grid (upright.h)
VolumeFormat nrrd_format(IrregularSlices irregular = IrregularSlices::kReject);

}  // namespace voxshard
