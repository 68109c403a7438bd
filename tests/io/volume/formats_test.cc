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

TEST(VolumeFormats, EveryFormatGivesBackWhatItsWriterWasGiven) {
  ScratchFolder dir;
  Geometry g{.size = {5, 4, 3}, .origin = {-120.25, 31.5, 812.125}, .spacing = {0.75, 0.8125, 2.5}};
  g.direction = {0.6, 0, 0.8, 0.8, 0, -0.6, 0, 1, 0};  // column a: where axis a goes
  for (const std::string name : {"a.nii", "a.nii.gz", "a.nrrd", "a.mha"}) {
    for (const DiskType type : {DiskType::kU8, DiskType::kI16, DiskType::kU16, DiskType::kI32, DiskType::kF32}) {
      Volume label{g, Tensor(DType::kI32, g.shape())};
      for (std::int64_t i = 0; i < label.voxels.count(); ++i) store(label.voxels.view(), i, static_cast<double>(3 * i));
      write_volume(dir.path() / name, label, type);
      const Volume back = read_label(dir.path() / name);
      EXPECT_TRUE(compare(back.voxels.view(), label.voxels.view()).bit_equal) << name;
      EXPECT_TRUE(same_geometry(back.geometry, g, 1e-5)) << name;
      EXPECT_TRUE(check_volume(dir.path() / name).readable) << name;
      EXPECT_EQ(files_of_volume(dir.path() / name), std::vector{dir.path() / name});
    }
    const std::string once = read_bytes(dir.path() / name);
    write_volume(dir.path() / name, read_image(dir.path() / name), DiskType::kF32);
    EXPECT_EQ(read_bytes(dir.path() / name), once) << name << ": the same volume gives the same bytes";
    EXPECT_EQ(volume_stem(dir.path() / name), "a");
  }
  EXPECT_EQ(dir.files(), 4u) << "temporary files are gone";
}

TEST(VolumeFormats, AnUnknownNameIsRefusedWithAllThatAreKnown) {
  expect_error(ErrorKind::kInput,
               "is not named like a NIfTI or NRRD or MetaImage or DICOM or archive volume; expected .nii, .nii.gz, or "
               "a .hdr/.img pair; "
               ".nrrd, or .nhdr with its data file; .mha, or .mhd with its data file",
               [] { read_image("a.mgz"); });
  expect_error(ErrorKind::kInput, "DICOM or archive or Toy volume", [] { read_image("a.mgz", with_toy()); });
  expect_error(ErrorKind::kInput, ".toy", [] { read_volume_info("a.mgz", with_toy()); });
  expect_error(ErrorKind::kOutput, ".nii or .nii.gz or .nrrd or .mha or .toy",
               [] { write_volume("a.mgz", numbered_volume(DType::kI32), DiskType::kU8, with_toy()); });
}

}  // namespace
}  // namespace voxshard
