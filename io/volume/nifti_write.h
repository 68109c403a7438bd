// Writes NIfTI-1: the header by ITK's nifti library, the voxels in pieces.
//
//   write_nifti("a.nii.gz", volume, DiskType::kI16);
#pragma once

#include <filesystem>

#include "io/volume/volume.h"

namespace voxshard {

/// Writes one file atomically: .nii as it is, .nii.gz in gzip members of a mebibyte, the same bytes on every processor.
/// Position and axes stand in qform and sform, both with the code of scanner coordinates, as ITK writes them.
/// The most voxels along an axis that the header of NIfTI-1 can say.
inline constexpr std::int64_t kMostNiftiExtent = 32767;

/// Errors: kOutput as write_volume (volume.h), and for more voxels along an axis.
void write_nifti(const std::filesystem::path& path, const Volume& volume, DiskType type);

}  // namespace voxshard
