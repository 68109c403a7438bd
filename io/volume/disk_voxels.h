// Voxels in the type that a file stores, in pieces of a mebibyte, so that writing takes no copy of the volume.
//
//   for_each_disk_piece("a.nii", volume, DiskType::kI16, [&](const char* bytes, std::int64_t count) { ... });
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>

#include "io/volume/volume.h"

namespace voxshard {

/// Calls body(bytes, their number) for the voxels of a volume in their order. f32 voxels are rounded half to even for
/// integer types.
///   path  of the file that they are for, for errors
/// Errors: kOutput for the first voxel whose value does not fit `type`, or is not finite.
void for_each_disk_piece(const std::filesystem::path& path, const Volume& volume, DiskType type,
                         const std::function<void(const char*, std::int64_t)>& body);

}  // namespace voxshard
