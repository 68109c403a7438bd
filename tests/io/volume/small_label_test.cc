// Label maps with a byte a voxel: read so where the file stores bytes, with the labels that read_label() gives.
#include <gtest/gtest.h>

#include "io/volume/volume.h"
#include "tests/io/test_files.h"

namespace voxshard {
namespace {

TEST(SmallLabel, IsOfBytesWhereTheFileStoresThem) {
  ScratchFolder dir;
  const std::vector<double> voxels = {0, 1, 2, 200, 255, 3, 0, 7};
  const auto expect_type = [&](const char* name, const NiftiSpec& spec, DType type, IrregularSlices irregular) {
    write_bytes(dir.path() / name, nifti_bytes(spec, voxels));
    const VolumeFormats formats = volume_formats_with(irregular);
    const Volume small = read_small_label(dir.path() / name, formats), whole = read_label(dir.path() / name, formats);
    ASSERT_EQ(small.voxels.dtype(), type) << name;
    EXPECT_TRUE(same_geometry(small.geometry, whole.geometry)) << name;
    for (std::int64_t i = 0; i < whole.voxels.count(); ++i) {
      const int label = type == DType::kU8 ? small.voxels.as<std::uint8_t>()[i] : small.voxels.as<std::int32_t>()[i];
      EXPECT_EQ(label, whole.voxels.as<std::int32_t>()[i]) << name << " " << i;
    }
  };
  constexpr std::array<float, 12> kSheared = {1, 0.2F, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0};
  expect_type("bytes.nii", {.datatype = 2}, DType::kU8, IrregularSlices::kReject);
  expect_type("kept.nii", {.datatype = 2}, DType::kU8, IrregularSlices::kResample);
  expect_type("scaled.nii", {.datatype = 2, .slope = 2}, DType::kI32, IrregularSlices::kReject);
  expect_type("words.nii", {.datatype = 4}, DType::kI32, IrregularSlices::kReject);
  expect_type("sheared.nii", {.datatype = 2, .srow = kSheared}, DType::kI32, IrregularSlices::kResample);
}

}  // namespace
}  // namespace voxshard
