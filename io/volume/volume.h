// 3-D medical volumes: NIfTI files read and written through ITK, behind a check of the header and of every byte that
// the header promises, because ITK reads a truncated .nii.gz as if nothing had happened.
//
//   Volume ct = read_image("liver_03.nii.gz");         // f32, Hounsfield units, (D, H, W)
//   Volume organs = read_label("liver_03_seg.nii.gz"); // i32
//   write_volume("out.nii.gz", organs, DiskType::kU8);
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "io/volume/geometry.h"
#include "libcore/tensor/tensor.h"

namespace voxshard {

struct Volume {
  Geometry geometry;
  Tensor voxels;  // (D, H, W) = (z, y, x); f32 for images, i32 for labels
};

/// The scalar type of a written file.
enum class DiskType : std::uint8_t { kU8, kI16, kU16, kI32, kF32 };

/// The image as f32 with slope and intercept applied (slope 0 or NaN: none).
/// Errors: kInput names the file, what is wrong and what to do: missing, empty, truncated, damaged gzip, not NIfTI, 4-D
/// or more, colour or complex, NaN or infinite voxels (how many, the first), a sheared sform (over 0.5 degrees) without
/// qform.
Volume read_image(const std::filesystem::path& path);

/// The label map as i32. Errors: as read_image, and kInput when a value is no integer or outside i32.
Volume read_label(const std::filesystem::path& path);

/// Writes .nii or .nii.gz atomically; the same volume gives the same bytes (gzip time 0, no free text in the header,
/// qform = sform, both code 1). f32 voxels are rounded half to even for integer types.
/// Errors: kOutput when the file cannot be written, its name does not end in .nii or .nii.gz, or a value does not fit
/// `type`.
void write_volume(const std::filesystem::path& path, const Volume& volume, DiskType type);

/// The smallest type that holds all the values: kU8, kI16, kU16, kI32 for i32 voxels, kF32 for f32 voxels.
DiskType smallest_disk_type(const Volume& volume);

/// What the header says, for `voxshard info`. No voxel is read.
struct VolumeInfo {
  Geometry geometry;                     // the first three dimensions, as read_image would use them
  std::string orientation;               // "LPS"
  std::string scalar_type;               // on disk: "int16", "float32", "rgb24", "complex64" ...
  int components = 1;                    // 3 for RGB, 2 for complex
  std::vector<std::int64_t> dimensions;  // all of them, in file order x, y, z, t ...
  double slope = 1, intercept = 0;       // as used: slope 0 or NaN reads as 1, 0
  int qform_code = 0, sform_code = 0;
  bool forms_agree = true;   // false when both are there and their corners differ by more than 0.1 mm
  double forms_gap_mm = 0;   // the largest distance between them over the corners of the volume
  double shear_degrees = 0;  // how far the used axes were from orthogonal, before it was repaired
  std::string form_used;     // "sform", "qform", "sform (nearest rotation)" or "none (spacing only)"
  int nifti_version = 1;     // 1 or 2
  bool big_endian = false;
  std::int64_t voxel_bytes = 0;  // uncompressed, as the header promises
  std::int64_t file_bytes = 0;   // on disk
  bool readable = true;          // read_image would take it as far as the header can tell
  std::string problem;           // why not, else empty
};

/// Errors: kInput as read_image for files without a usable header; 4-D, colour and shear are reported in `problem`.
VolumeInfo read_volume_info(const std::filesystem::path& path);

}  // namespace voxshard
