// Limits on the sizes in a volume's header. A few hundred kilobytes of .nii.gz can unpack to a gigabyte, and a fine
// spacing makes a terabyte of a small scan: both are refused by their headers, before anything is allocated. Only that
// case fails, not the batch.
//
//   VolumeLimits limits{.memory_bytes = available_memory_bytes()};
//   require_within(limits, read_volume_info("ct.nii.gz"), "ct.nii.gz");     // E_SIZE says what would fit
#pragma once

#include <array>
#include <cstdint>
#include <filesystem>
#include <string>

#include "io/volume/geometry.h"
#include "libcore/base/error.h"

namespace voxshard {

struct VolumeInfo;

/// The usual least_fraction: a voxel belongs to a segment that fills half of it.
inline constexpr double kLeastFraction = 0.5;

struct VolumeLimits {
  std::int64_t most_voxels = std::int64_t{1} << 30;  // of a file, and of its resampled volume: 1024^3
  double most_inflation = 250;    // unpacked bytes per byte of a compressed file; checked beyond kFreeInflationBytes
  std::int64_t memory_bytes = 0;  // peak memory of one case; 0: no limit
  double least_fraction = kLeastFraction;  // of a fractional DICOM segmentation: the part of the most from which on a
                                           // voxel belongs to a segment; in (0, 1]
};

/// Unpacked size in bytes up to which most_inflation is not checked: an empty label map compresses a thousandfold.
inline constexpr std::int64_t kFreeInflationBytes = std::int64_t{1} << 30;

/// Returns the number of voxels of a grid, at most 2^62.
std::int64_t voxels_of(const Geometry& geometry);

/// Returns the peak memory of reading a file: that of the resulting volume, four bytes a voxel, because the voxels are
/// converted while they are read (voxel_source.h).
std::int64_t reading_bytes(const VolumeInfo& info);

/// Throws when a file exceeds the limits by its header. Files that are not readable, or shorter than the header says,
/// pass here; the reader reports them. Errors: kInput E_SIZE (memory_bytes: E_BUDGET) with a size that would fit.
void require_within(const VolumeLimits& limits, const VolumeInfo& info, const std::filesystem::path& path);

/// Returns E_BUDGET for a case that needs too much memory: "[memory] WHAT takes 5.0 GiB, of 2.0 GiB that this process
/// may take; FITS, or raise host-memory by 3MiB".
Error over_memory(const std::string& what, std::int64_t bytes, std::int64_t most_bytes, const std::string& fits);

}  // namespace voxshard
