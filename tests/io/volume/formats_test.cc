// A format is a row of a table that is handed in: one from outside is read and written like those of the build.
#include "tests/io/test_files.h"
#include "tests/io/volume/toy_format.h"

namespace voxshard {
namespace {

Volume numbered_volume(DType dtype) {
  Volume v{Geometry{.size = {4, 3, 2}, .origin = {5, -7, 11}, .spacing = {2, 2, 3}}, {}};
  v.voxels = Tensor(dtype, v.geometry.shape());
  for (std::int64_t i = 0; i < v.voxels.count(); ++i) store(v.voxels.view(), i, static_cast<double>(i));
  return v;
}

TEST(VolumeFormats, ARowFromOutsideReadsAndWrites) {
  ScratchFolder dir;
  const VolumeFormats formats = with_toy();
  const auto path = dir.path() / "liver_03.toy";
  write_volume(path, numbered_volume(DType::kI32), DiskType::kU8, formats);
  EXPECT_TRUE(compare(read_label(path, formats).voxels.view(), numbered_volume(DType::kI32).voxels.view()).bit_equal);
  EXPECT_TRUE(compare(read_image(path, formats).voxels.view(), numbered_volume(DType::kF32).voxels.view()).bit_equal);
  EXPECT_EQ(read_volume_info(path, formats).geometry.spacing[2], 3);
  EXPECT_EQ(volume_stem(path, formats), "liver_03");
  EXPECT_EQ(volume_stem(path), std::nullopt);
}

TEST(VolumeFormats, TheRowsOfTheBuildStayBesideIt) {
  ScratchFolder dir;
  const auto path = dir.path() / "liver_03.nii.gz";
  write_volume(path, numbered_volume(DType::kI32), DiskType::kU8, with_toy());
  EXPECT_EQ(read_volume_info(path, with_toy()).nifti_version, 1);
  EXPECT_EQ(volume_stem(path, with_toy()), "liver_03");
}

TEST(VolumeFormats, AnUnknownNameIsRefusedWithAllThatAreKnown) {
  expect_error(ErrorKind::kInput, "is not named like a NIfTI volume; expected .nii, .nii.gz, or a .hdr/.img pair",
               [] { read_image("a.mha"); });
  expect_error(ErrorKind::kInput, "is not named like a NIfTI or Toy volume", [] { read_image("a.mha", with_toy()); });
  expect_error(ErrorKind::kInput, ".toy", [] { read_volume_info("a.mha", with_toy()); });
  expect_error(ErrorKind::kOutput, ".nii or .nii.gz or .toy",
               [] { write_volume("a.mha", numbered_volume(DType::kI32), DiskType::kU8, with_toy()); });
}

}  // namespace
}  // namespace voxshard
