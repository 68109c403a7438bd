#include "io/volume/nifti_write.h"

#include <nifti1_io.h>

#include <cstring>
#include <string>

#include "io/archive/gzip_writer.h"
#include "io/files/atomic_file.h"
#include "io/volume/disk_voxels.h"

namespace voxshard {
namespace {

constexpr int kHeaderBytes = 352;  // and four bytes that say that no extension follows

int datatype_of(DiskType type) {
  constexpr int kTypes[] = {NIFTI_TYPE_UINT8, NIFTI_TYPE_INT16, NIFTI_TYPE_UINT16, NIFTI_TYPE_INT32,
                            NIFTI_TYPE_FLOAT32};  // in the order of DiskType
  return kTypes[static_cast<int>(type)];
}

/// Returns the matrix from an index to RAS; columns are unit vectors, or as long as the spacing.
mat44 ras_matrix(const Geometry& g, bool scaled) {
  mat44 m{};
  for (int r = 0; r < 3; ++r) {
    const double sign = r < 2 ? -1 : 1;  // from LPS
    for (int a = 0; a < 3; ++a)
      m.m[r][a] = static_cast<float>(sign * g.direction[3 * r + a] * (scaled ? g.spacing[a] : 1) + 0.0);  // no -0
    m.m[r][3] = static_cast<float>(sign * g.origin[r] + 0.0);
  }
  m.m[3][3] = 1;
  return m;
}

nifti_1_header header_of(const Geometry& g, DiskType type) {
  nifti_image image{};
  image.ndim = image.dim[0] = 3;
  image.nx = image.dim[1] = static_cast<int>(g.size[0]);
  image.ny = image.dim[2] = static_cast<int>(g.size[1]);
  image.nz = image.dim[3] = static_cast<int>(g.size[2]);
  image.nt = image.nu = image.nv = image.nw = 1;
  for (int a = 4; a < 8; ++a) image.dim[a] = 1;
  image.dx = image.pixdim[1] = static_cast<float>(g.spacing[0]);
  image.dy = image.pixdim[2] = static_cast<float>(g.spacing[1]);
  image.dz = image.pixdim[3] = static_cast<float>(g.spacing[2]);
  image.datatype = datatype_of(type);
  nifti_datatype_sizes(image.datatype, &image.nbyper, &image.swapsize);
  image.scl_slope = 1;
  image.xyz_units = NIFTI_UNITS_MM;
  image.nifti_type = NIFTI_FTYPE_NIFTI1_1;
  image.iname_offset = kHeaderBytes;
  image.qform_code = image.sform_code = NIFTI_XFORM_SCANNER_ANAT;
  const mat44 unit = ras_matrix(g, false);
  nifti_mat44_to_quatern(unit, &image.quatern_b, &image.quatern_c, &image.quatern_d, &image.qoffset_x, &image.qoffset_y,
                         &image.qoffset_z, nullptr, nullptr, nullptr, &image.qfac);
  image.sto_xyz = ras_matrix(g, true);
  return nifti_convert_nim2nhdr(&image);
}

}  // namespace

void write_nifti(const std::filesystem::path& path, const Volume& volume, DiskType type) {
  for (auto extent : volume.geometry.size)
    if (extent < 1 || extent > kMostNiftiExtent)
      throw output_error(
          path,
          "NIfTI-1 holds 1 to " + std::to_string(kMostNiftiExtent) + " voxels an axis, not " + std::to_string(extent),
          "crop or resample it");
  const nifti_1_header header = header_of(volume.geometry, type);
  char bytes[kHeaderBytes] = {};
  static_assert(sizeof header == 348);
  std::memcpy(bytes, &header, sizeof header);
  AtomicFile file(path);
  if (path.extension() == ".gz") {
    GzipWriter gzip(file.stream());
    gzip.write(bytes, kHeaderBytes);
    for_each_disk_piece(path, volume, type, [&](const char* piece, std::int64_t count) { gzip.write(piece, count); });
    gzip.finish();
  } else {
    file.stream().write(bytes, kHeaderBytes);
    for_each_disk_piece(path, volume, type,
                        [&](const char* piece, std::int64_t count) { file.stream().write(piece, count); });
  }
  file.commit();
}

}  // namespace voxshard
