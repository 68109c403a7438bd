// Written NIfTI files byte by byte: header, pieces and gzip members. nibabel reads them in tests/hospital.
#include "io/volume/nifti_write.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <limits>

#include "io/archive/gzip_writer.h"
#include "io/volume/packed_file.h"
#include "tests/io/test_files.h"

namespace voxshard {
namespace {

/// An oblique, flipped grid, so that every number of its header is one of its own.
Geometry oblique_grid(std::array<std::int64_t, 3> size) {
  const double c = std::cos(0.3), s = std::sin(0.3);
  return {.size = size,
          .origin = {-12.5, 30.25, 7},
          .spacing = {0.75, 1.5, 2.5},
          .direction = {c, 0, s, 0, -1, 0, s, 0, -c}};
}

std::string bytes_of(const fs::path& path, Packing packing) {
  PackedFile file(path, packing);
  std::string bytes(100 << 20, '\0');
  bytes.resize(file.read(bytes.data(), static_cast<std::int64_t>(bytes.size())));
  return bytes;
}

template <class T>
T number_at(const std::string& bytes, std::size_t at) {
  T value;
  std::memcpy(&value, bytes.data() + at, sizeof value);
  return value;
}

TEST(NiftiWrite, HasTheHeaderOfTheStandard) {
  const ScratchFolder folder;
  const fs::path file = folder.path() / "a.nii";
  Volume volume{oblique_grid({3, 4, 5}), Tensor(DType::kF32, {5, 4, 3})};
  for (std::int64_t i = 0; i < 60; ++i) volume.voxels.as<float>()[i] = static_cast<float>(i) - 0.5F;
  write_nifti(file, volume, DiskType::kI16);
  const std::string bytes = bytes_of(file, Packing::kPlain);
  ASSERT_EQ(bytes.size(), 352U + 60 * 2);
  EXPECT_EQ(number_at<std::int32_t>(bytes, 0), 348);
  for (const auto& [axis, extent] : {std::pair(0, 3), {1, 3}, {2, 4}, {3, 5}, {4, 1}, {7, 1}})
    EXPECT_EQ(number_at<std::int16_t>(bytes, 40 + 2 * axis), extent) << axis;
  EXPECT_EQ(number_at<std::int16_t>(bytes, 70), 4);   // datatype int16
  EXPECT_EQ(number_at<std::int16_t>(bytes, 72), 16);  // bits
  EXPECT_EQ(number_at<float>(bytes, 80), 0.75F);      // pixdim[1]
  EXPECT_EQ(number_at<float>(bytes, 88), 2.5F);
  EXPECT_EQ(number_at<float>(bytes, 108), 352);         // vox_offset
  EXPECT_EQ(number_at<float>(bytes, 112), 1);           // scl_slope
  EXPECT_EQ(number_at<float>(bytes, 116), 0);           // scl_inter
  EXPECT_EQ(bytes[123], 2);                             // mm
  EXPECT_EQ(number_at<std::int16_t>(bytes, 252), 1);    // qform_code
  EXPECT_EQ(number_at<std::int16_t>(bytes, 254), 1);    // sform_code
  EXPECT_EQ(number_at<float>(bytes, 268), 12.5F);       // qoffset_x: RAS
  EXPECT_EQ(number_at<float>(bytes, 280 + 12), 12.5F);  // srow_x[3]
  EXPECT_EQ(bytes.substr(344, 8), std::string("n+1\0\0\0\0\0", 8));
  for (std::size_t i = 0; i < 60; ++i)  // rounded half to even
    EXPECT_EQ(number_at<std::int16_t>(bytes, 352 + 2 * i), std::nearbyint(static_cast<double>(i) - 0.5)) << i;
}

TEST(NiftiWrite, KeepsPositionAndAxesInBothForms) {
  const ScratchFolder folder;
  for (const double sign : {1.0, -1.0}) {  // right- and left-handed axes
    Geometry g = oblique_grid({3, 4, 5});
    for (std::size_t r = 0; r < 3; ++r) g.direction[3 * r] *= sign;
    write_nifti(folder.path() / "a.nii", {g, Tensor(DType::kU8, g.shape())}, DiskType::kU8);
    const VolumeInfo info = read_volume_info(folder.path() / "a.nii");
    EXPECT_TRUE(same_geometry(info.geometry, g, 1e-5));
    EXPECT_LT(info.forms_gap_mm, 1e-4);  // both are float32 numbers of some tens of mm
    EXPECT_LT(info.shear_degrees, 1e-3);
  }
}

TEST(NiftiWrite, PacksMembersThatAreTheSameBytesAsTheFileAlone) {
  const ScratchFolder folder;
  Volume volume{oblique_grid({200, 150, 61}),
                Tensor(DType::kI32, {61, 150, 200})};  // 3.5 MiB as int16: several members and pieces
  for (std::int64_t i = 0; i < volume.voxels.count(); ++i)
    volume.voxels.as<std::int32_t>()[i] = static_cast<std::int32_t>(i * 7919 % 4001);
  write_nifti(folder.path() / "a.nii", volume, DiskType::kI16);
  write_nifti(folder.path() / "a.nii.gz", volume, DiskType::kI16);
  const std::string plain = bytes_of(folder.path() / "a.nii", Packing::kPlain);
  EXPECT_EQ(plain.size(), 352U + 2 * 61 * 150 * 200);
  EXPECT_TRUE(bytes_of(folder.path() / "a.nii.gz", Packing::kGzip) == plain);
  const std::string packed = bytes_of(folder.path() / "a.nii.gz", Packing::kPlain);
  std::size_t members = 0;
  for (std::size_t at = 0; (at = packed.find(std::string("\x1f\x8b\x08\0\0\0\0\0", 8), at)) != std::string::npos; ++at)
    ++members;
  EXPECT_EQ(members, plain.size() / GzipWriter::kMemberBytes + 1);
  const Volume back = read_label(folder.path() / "a.nii.gz");
  EXPECT_EQ(std::memcmp(back.voxels.data(), volume.voxels.data(), static_cast<std::size_t>(volume.voxels.bytes())), 0);
}

TEST(NiftiWrite, LeavesNothingBehindWhereAVoxelDoesNotFit) {
  const ScratchFolder folder;
  Volume volume{oblique_grid({100, 100, 60}), Tensor(DType::kF32, {60, 100, 100})};
  for (const float bad :
       {40000.0F, -40000.0F, std::numeric_limits<float>::quiet_NaN(), std::numeric_limits<float>::infinity()}) {
    volume.voxels.as<float>()[59 * 10'000 + 203] = bad;
    try {
      write_nifti(folder.path() / "a.nii.gz", volume, DiskType::kI16);
      ADD_FAILURE() << "wrote " << bad;
    } catch (const Error& e) {
      EXPECT_EQ(e.kind(), ErrorKind::kOutput);
      EXPECT_THAT(e.what(), testing::HasSubstr("does not fit the type on disk"));
    }
  }
  EXPECT_EQ(folder.files(), 0U);
}

}  // namespace
}  // namespace voxshard
