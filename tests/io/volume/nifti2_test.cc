// NIfTI-2: the same volume as NIfTI-1 under a header of 540 bytes, and what only it can hold.
#include <limits>

#include "io/volume/nifti_header.h"
#include "tests/io/test_files.h"

namespace voxshard {
namespace {

TEST(Nifti2, EveryScalarTypeInBothByteOrdersReadsAsInNifti1) {
  ScratchFolder dir;
  for (std::int16_t type : std::vector<std::int16_t>{2, 4, 8, 16, 64, 256, 512, 768, 1024, 1280})
    for (bool big : {false, true}) {
      NiftiSpec spec{.datatype = type, .big_endian = big, .slope = 2, .intercept = -1, .spacing = {1, 2, 3}};
      spec.srow = {0, -2, 0, 10, 1, 0, 0, 20, 0, 0, 3, 30};
      const std::vector<double> values = {0, 1, 2, 3, 40, 50, 60, 127};
      write_bytes(dir.path() / "one.nii", nifti_bytes(spec, values));
      write_bytes(dir.path() / "two.nii", nifti2_bytes(spec, values));
      const Volume one = read_image(dir.path() / "one.nii"), two = read_image(dir.path() / "two.nii");
      EXPECT_TRUE(compare(one.voxels.view(), two.voxels.view()).bit_equal) << type << big;
      EXPECT_EQ(two.voxels.as<float>()[7], 253);
      EXPECT_TRUE(same_geometry(one.geometry, two.geometry, 0));
      EXPECT_EQ(orientation_code(two.geometry), "ALS");
      const VolumeInfo info = read_volume_info(dir.path() / "two.nii");
      EXPECT_EQ(info.nifti_version, 2);
      EXPECT_EQ(info.big_endian, big);
    }
}

TEST(Nifti2, PairsAndGzipAreRead) {
  ScratchFolder dir;
  const NiftiSpec spec{.datatype = 4};
  std::string whole = nifti2_bytes(spec, {1, 2, 3, 4});
  write_bytes(dir.path() / "a.nii.gz", gzipped(whole, dir.path()));
  EXPECT_EQ(read_label(dir.path() / "a.nii.gz").voxels.as<std::int32_t>()[3], 4);
  whole.replace(4, 2, "ni");
  whole.replace(168, 8, std::string(8, '\0'));
  write_bytes(dir.path() / "b.hdr", whole.substr(0, 540));
  write_bytes(dir.path() / "b.img", whole.substr(544));
  EXPECT_EQ(read_label(dir.path() / "b.hdr").voxels.as<std::int32_t>()[3], 4);
  EXPECT_EQ(files_of_volume(dir.path() / "b.img"), (std::vector{dir.path() / "b.hdr", dir.path() / "b.img"}));
  write_bytes(dir.path() / "b.img", "\x1f\x8b not gzip at all");
  EXPECT_EQ(read_label(dir.path() / "b.hdr").voxels.as<std::int32_t>()[0], static_cast<std::int16_t>(0x8b1f))
      << "the name says that the voxels are plain";
}

TEST(Nifti2, AnAxisMayBeLongerThanNifti1Holds) {
  ScratchFolder dir;
  std::string bytes = nifti2_bytes({.dims = {1, 1, 1}, .datatype = 2}, {7});
  const std::int64_t length = 40000;
  std::memcpy(&bytes[24], &length, 8);
  write_bytes(dir.path() / "a.nii", bytes + std::string(39999, '\5'));
  const Volume v = read_label(dir.path() / "a.nii");
  EXPECT_EQ(v.voxels.shape(), (Shape{1, 1, 40000}));
  EXPECT_EQ(v.voxels.as<std::int32_t>()[0], 7);
  EXPECT_EQ(v.voxels.as<std::int32_t>()[39999], 5);
}

TEST(Nifti2, SizesThatNoFileHasAreRefused) {
  ScratchFolder dir;
  const std::string good = nifti2_bytes({.datatype = 2}, {7});
  for (const std::int64_t size : {std::int64_t{-1}, std::int64_t{0}, std::numeric_limits<std::int64_t>::min()}) {
    std::string bytes = good;
    std::memcpy(&bytes[24], &size, 8);
    write_bytes(dir.path() / "a.nii", bytes);
    expect_error(ErrorKind::kInput, "has a dimension of " + std::to_string(size),
                 [&] { read_image(dir.path() / "a.nii"); });
  }
  std::string bytes = good;
  const std::int64_t large = std::numeric_limits<std::int64_t>::max();
  for (std::size_t a = 0; a < 3; ++a) std::memcpy(&bytes[24 + 8 * a], &large, 8);
  write_bytes(dir.path() / "a.nii", bytes);
  EXPECT_EQ(read_nifti_header(dir.path() / "a.nii").voxel_bytes(), -1);
  expect_error(ErrorKind::kInput, "more than the", [&] { read_image(dir.path() / "a.nii"); });
  write_bytes(dir.path() / "a.nii", good.substr(0, 539));
  expect_error(ErrorKind::kInput, "ends inside its header (539 of 540 bytes)",
               [&] { read_image(dir.path() / "a.nii"); });
  write_bytes(dir.path() / "a.nii", good.substr(0, good.size() - 1));
  expect_error(ErrorKind::kInput, "is truncated", [&] { read_image(dir.path() / "a.nii"); });
  bytes = good;
  const std::int64_t behind = std::numeric_limits<std::int64_t>::max();
  std::memcpy(&bytes[168], &behind, 8);
  write_bytes(dir.path() / "a.nii", bytes);
  expect_error(ErrorKind::kInput, "begin at byte", [&] { read_image(dir.path() / "a.nii"); });
}

}  // namespace
}  // namespace voxshard
