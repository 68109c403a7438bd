// MetaImage: .mha, and .mhd with its voxels in a file of the same folder; raw or compressed by zlib. Errors in addition
// to those of io/volume/volume.h: voxels as text, several channels, other than three dimensions, data in several files
// or in other folders. Format: ITK's MetaIO (metaObject.cxx, metaImage.cxx of ITK 5.2).
//
//   VolumeFormats formats = {.rows = {meta_image_format()}};
#pragma once

#include "io/volume/volume.h"

namespace voxshard {

/// Reads Offset and TransformMatrix as ITK does: LPS millimetres, row a of the matrix is the direction of index axis a.
/// Writes through ITK, compressed.
///   irregular  kResample reads sheared axes (E_SHEAR) on an upright regular grid (upright.h)
VolumeFormat meta_image_format(IrregularSlices irregular = IrregularSlices::kReject);

}  // namespace voxshard
