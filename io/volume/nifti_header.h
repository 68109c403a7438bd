// Reads the header of NIfTI-1 and NIfTI-2 without ITK: scalar type, number of bytes, and which of its two transforms is
// used. ITK 5.2 does not read NIfTI-2, notices no missing bytes in a .nii.gz and refuses a slightly sheared sform.
//
//   NiftiHeader h = read_nifti_header(path);
//   std::string why = volume_problem(h);          // 3-D, scalar, usable geometry
//   VoxelSource voxels = nifti_voxels(h, path);   // where they are
#pragma once

#include <array>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "io/volume/axes.h"
#include "io/volume/voxel_source.h"

namespace voxshard {

struct NiftiHeader {
  int version = 1;  // 1 (348 bytes) or 2 (540 bytes)
  bool big_endian = false;
  bool single_file = true;               // "n+1": header and voxels in one file
  std::vector<std::int64_t> dimensions;  // dim[1] .. dim[dim[0]]
  int datatype = 0;                      // DT_ code of nifti1.h
  std::array<double, 8> pixdim{};
  double vox_offset = 0, slope = 0, intercept = 0;
  int qform_code = 0, sform_code = 0;
  std::array<double, 3> quaternion{}, qoffset{};
  Matrix34 sform{};     // RAS, in the file's unit
  double unit_mm = 1;   // millimetres per unit of length
  int fourth_unit = 0;  // of the 4th axis: 8, 16, 24 are times
  int intent = 0;       // NIFTI_INTENT_ code: what the values along the 5th axis are
  std::filesystem::path header_file, data_file;

  /// Bytes of all voxels. -1 when that is more than 2^60.
  std::int64_t voxel_bytes() const;
  /// Offset of the first voxel in data_file, in bytes.
  std::int64_t data_begin() const;
  std::string scalar_type() const;  // "int16"; "type 5" when unknown
  int components() const;
  int bytes_per_voxel() const;  // 0 when the type is unknown
  bool is_scaled() const;       // slope and intercept change values; slope 0 or NaN says that there is no scaling
};

/// The geometry of a header, and how it was derived.
struct NiftiPlacement {
  Geometry geometry;
  std::string form_used;
  double shear_degrees = 0;   // shear of the form used
  double shear_shift_mm = 0;  // how far its repair moves the corner that it moves most
  double forms_gap_mm = 0;    // largest distance between qform and sform over the volume's corners; 0 unless both exist
  std::string problem;        // reason why the geometry cannot be used; else empty
  bool sheared = false;       // the problem is a shear that resampling mends; the geometry holds the axes as they are
};

/// Returns the files of header and voxels for a NIfTI volume's name: .nii, .hdr or .img, each also with .gz.
std::optional<std::pair<std::filesystem::path, std::filesystem::path>> nifti_files(const std::filesystem::path& path);

/// Errors: kInput: missing, empty, too short, not NIfTI, impossible dimensions, a damaged gzip stream.
NiftiHeader read_nifti_header(const std::filesystem::path& path);

/// The same choice as ITK makes: the sform when it is orthogonal and (labelled scanner, or alone, or equal to the
/// qform), else the qform, else the sform's nearest rotation when it is sheared by less than 0.5 degrees.
NiftiPlacement place(const NiftiHeader& header);

/// Describes a number of the header (offset, scaling, spacing) that is unusable; empty when there is none.
std::string unreadable_number(const NiftiHeader& header);

/// Returns the reason why this file cannot be read as one scalar 3-D volume; empty when it can.
std::string volume_problem(const NiftiHeader& header);

/// Returns the reason why the fourth axis of this file is not that of `channels` channels; empty when it is.
std::string channels_problem(const NiftiHeader& header, std::int64_t channels);

/// Returns where the voxels are. `path`: the volume's name, for messages.
VoxelSource nifti_voxels(const NiftiHeader& header, const std::filesystem::path& path);

}  // namespace voxshard
