// Reads the voxels of a file after its header said where they are and as what: one pass that unpacks, swaps bytes,
// scales and looks for numbers that are not finite, in pieces of 256 KiB. All formats but the tests' share it, so that
// truncation, damage and NaN are noticed alike.
//
//   VolumeHeader h = nifti_volume_header(path);
//   Volume ct = read_voxels(h, DType::kF32);   // throws h.info.problem when there is one
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>

#include "io/volume/packed_file.h"
#include "io/volume/volume.h"

namespace voxshard {

enum class VoxelType : std::uint8_t { kU8, kI8, kU16, kI16, kU32, kI32, kU64, kI64, kF32, kF64 };

const char* voxel_type_name(VoxelType type);  // "int16"
std::int64_t voxel_type_bytes(VoxelType type);

/// The code of a header whose only problem are sheared axes that resampling mends (upright.h): its geometry holds the
/// axes as they are.
inline constexpr const char* kShearCode = "E_SHEAR";

/// The code of a file that does not hold the channels of an address.
inline constexpr const char* kOtherChannels = "E_SHAPE";

struct VoxelSource {
  std::filesystem::path named;  // the volume's name, for messages
  std::filesystem::path file;   // holds the voxels
  Packing packing = Packing::kPlain;
  std::int64_t begin = 0;       // bytes of the file before the packed stream, or before the first voxel when plain
  std::int64_t skip_bytes = 0;  // unpacked bytes of the stream before the first voxel
  std::int64_t rest_bytes = 0;  // unpacked bytes behind the last voxel that the header promises: further channels
  std::int64_t interleaved = 1, which = 0;  // values of a voxel, one after the other, and which of them is read
  VoxelType type = VoxelType::kF32;
  bool big_endian = false;
  std::optional<double> slope;  // none: values are as stored
  double intercept = 0;
};

/// The contents of a header, and where the voxels are; the latter has no meaning when info is not readable.
struct VolumeHeader {
  VolumeInfo info;
  VoxelSource source;
};

/// Returns the product of `dimensions` and `voxel_bytes`; -1 when that is more than 2^60.
std::int64_t product_bytes(const std::vector<std::int64_t>& dimensions, std::int64_t voxel_bytes);

/// Errors: kInput when a plain file is shorter than its header says, or a packed one shorter than any packing of so
/// many bytes. Cost: none, no byte is read.
void require_possible_bytes(const VoxelSource& source, std::int64_t voxel_bytes);

/// Reads voxels as f32 or i32, or as u8 where the file stores u8 that are not scaled. Errors: kInput: info.problem; the
/// file is cut or damaged, or goes on for more than 64 MiB behind its voxels; E_NAN; values beyond f32, or no whole
/// numbers within i32.
/// Cost: one pass; allocates the result and less than a MiB.
Volume read_voxels(const VolumeHeader& header, DType dtype);

/// Reads the same bytes without keeping them. Errors: as read_voxels, but those of one dtype.
void check_voxels(const VolumeHeader& header);

/// Checks a file that was just written: its length, or where it is packed the whole stream. Errors: as check_voxels.
void require_whole(const VolumeHeader& header);

}  // namespace voxshard
