// How much of what a volume's header promises is believed. A few hundred kilobytes of .nii.gz unpack to a gigabyte, and
// a fine spacing makes a terabyte of a small scan: both are refused by their headers, before anything is allocated, and
// cost their case only.
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

struct VolumeLimits {
  std::int64_t most_voxels = std::int64_t{1} << 30;  // of a file, and of what it is resampled to: 1024^3
  double most_inflation = 250;    // bytes out of one byte of a compressed file; asked beyond kFreeInflationBytes
  std::int64_t memory_bytes = 0;  // of one case at its peak; 0: no limit
};

/// An empty label map packs a thousandfold; below this size that is nobody's harm.
inline constexpr std::int64_t kFreeInflationBytes = std::int64_t{1} << 30;

/// Voxels of a grid. At most 2^62.
std::int64_t voxels_of(const Geometry& geometry);

/// What reading a file takes at its peak, the volume that is left included: the scalars of the disk twice, or once
/// beside four bytes a voxel.
std::int64_t reading_bytes(const VolumeInfo& info);

/// Requires that a file whose header was read may be read as a whole. What is not readable, or shorter than its header
/// promises, is left to the reader to name. Errors: kInput E_SIZE (memory_bytes: E_BUDGET) with what would fit.
void require_within(const VolumeLimits& limits, const VolumeInfo& info, const std::filesystem::path& path);

/// E_BUDGET for a case that needs more than there is: "[PATH] WHAT takes 5.0 GiB, this process may take 2.0 GiB; FITS".
Error over_memory(const std::string& what, std::int64_t bytes, std::int64_t most_bytes, const std::string& fits);

}  // namespace voxshard
