// NIfTI as a row of the table of formats. The header check (nifti_header.h) decides whether a file is read and gives
// its geometry; the voxels are read as those of all formats are (voxel_source.h).
//
//   nifti_format().read("ct.nii.gz", DType::kF32)
#include "io/volume/nifti.h"

#include "io/files/channel_address.h"
#include "io/files/file_error.h"
#include "io/volume/nifti_header.h"
#include "io/volume/nifti_write.h"
#include "io/volume/upright.h"
#include "libcore/base/text.h"

namespace voxshard {
namespace {

namespace fs = std::filesystem;

/// Makes the header of a 4-D file that of one of its channels. Returns where the voxels are, or a problem.
std::string take_channel(NiftiHeader& header, VoxelSource& voxels, const ChannelAddress& address) {
  if (const std::string problem = channels_problem(header, address.channels); !problem.empty()) return problem;
  if (header.voxel_bytes() < 0) return "";  // of no file: reading it says so
  header.dimensions.resize(3);
  const std::int64_t bytes = header.voxel_bytes(), before = address.channel * bytes;
  (voxels.packing == Packing::kPlain ? voxels.begin : voxels.skip_bytes) += before;
  voxels.rest_bytes = (address.channels - 1) * bytes - before;
  return "";
}

/// Reads the header only; repairs are reported. The path may be the address of a channel.
VolumeHeader nifti_volume_header(const fs::path& path) {
  const auto address = channel_in(path);
  NiftiHeader header = read_nifti_header(address ? address->file : path);
  VoxelSource voxels = nifti_voxels(header, path);
  const std::string channel_problem = address ? take_channel(header, voxels, *address) : "";
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
  info.shear_shift_mm = placement.shear_shift_mm;
  info.form_used = placement.form_used;
  info.nifti_version = header.version;
  info.big_endian = header.big_endian;
  info.voxel_bytes = header.voxel_bytes();
  std::error_code error;
  const auto size = fs::file_size(header.data_file, error);
  info.file_bytes = error ? 0 : static_cast<std::int64_t>(size);
  info.compressed = header.data_file.extension() == ".gz";
  if (!placement.sheared) info.warning = shear_warning(info.shear_degrees, info.shear_shift_mm);
  if (!info.forms_agree)
    info.warning = "W_FORMS qform and sform differ by " + fixed_text(info.forms_gap_mm, 1) + " mm; the " +
                   info.form_used + " is used: check which of them is right";
  if (placement.form_used.starts_with("none"))
    info.warning =
        "W_FORMS neither qform nor sform says how it lies: its axes are taken for left, back and up; check the sides";
  info.problem = volume_problem(header);
  if (placement.sheared && info.problem == placement.problem) info.problem_code = kShearCode;
  if (!channel_problem.empty()) info.problem = channel_problem, info.problem_code = kOtherChannels;
  info.readable = info.problem.empty();
  return {info, voxels};
}

}  // namespace

VolumeFormat nifti_format(IrregularSlices irregular) {
  return {.name = "NIfTI",
          .endings = {".nii", ".nii.gz"},
          .expected = ".nii, .nii.gz, or a .hdr/.img pair",
          .matches = [](const fs::path& path) { return nifti_files(file_of_channel(path)).has_value(); },
          .read_header = [=](const fs::path& path) { return upright_info(nifti_volume_header(path), irregular); },
          .read = [=](const fs::path& path,
                      DType dtype) { return read_upright(nifti_volume_header(path), dtype, irregular); },
          .write = write_nifti,
          .check = [=](const fs::path& path) { check_upright(nifti_volume_header(path), irregular); },
          .files = [](const fs::path& path) -> std::vector<fs::path> {
            const auto files = nifti_files(file_of_channel(path));
            if (!files || files->first == files->second) return {file_of_channel(path)};
            return {files->first, files->second};
          }};
}

}  // namespace voxshard
