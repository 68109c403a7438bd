// The truth of a volume's header for `voxshard info`: nothing is decoded, nothing is repaired silently.
//
//   read_volume_info("ct.nii.gz").orientation   // "LPS"
#include "io/volume/nifti_header.h"
#include "io/volume/volume.h"

namespace voxshard {

VolumeInfo read_volume_info(const std::filesystem::path& path) {
  const NiftiHeader header = read_nifti_header(path);
  const NiftiPlacement placement = place(header);
  VolumeInfo info;
  info.geometry = placement.geometry;
  info.orientation = orientation_code(placement.geometry);
  info.scalar_type = header.scalar_type();
  info.components = header.components();
  info.dimensions = header.dimensions;
  if (header.is_scaled()) info.slope = header.slope, info.intercept = header.intercept;
  info.qform_code = header.qform_code;
  info.sform_code = header.sform_code;
  info.forms_gap_mm = placement.forms_gap_mm;
  info.forms_agree = placement.forms_gap_mm <= 0.1;
  info.shear_degrees = placement.shear_degrees;
  info.form_used = placement.form_used;
  info.nifti_version = header.version;
  info.big_endian = header.big_endian;
  info.voxel_bytes = header.voxel_bytes();
  std::error_code error;
  const auto size = std::filesystem::file_size(header.data_file, error);
  info.file_bytes = error ? 0 : static_cast<std::int64_t>(size);
  info.problem = volume_problem(header);
  info.readable = info.problem.empty();
  return info;
}

}  // namespace voxshard
