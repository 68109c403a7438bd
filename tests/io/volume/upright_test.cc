// Files with sheared axes: refused with the numbers, and spheres keep their places when they are resampled.
#include "io/volume/upright.h"

#include <cmath>
#include <numbers>

#include "tests/io/spheres.h"
#include "tests/io/test_files.h"

namespace voxshard {
namespace {

using testing::HasSubstr;
const std::vector<Sphere> kSpheres = {{{20, 22, 20}, 6}, {{34, 30, 32}, 10}};
constexpr double kAir = -1000;

struct Shear {
  const char* name;
  std::array<float, 12> srow;  // RAS
};
const Shear kShears[] = {
    {"gantry of 14 degrees", {-1, 0, 0, 0, 0, -1, -0.5F, 5, 0, 0, 2, 0}},
    {"y towards x", {-1, -0.2F, 0, 5, 0, -1, 0, 0, 0, 0, 1.5F, 0}},
    {"all axes", {-1, -0.1F, 0.1F, 4, 0.05F, -1, -0.2F, 4, 0.02F, -0.1F, 1.5F, 3}},
    {"head first at the other end", {1, 0.1F, 0, -55, 0, -1, -0.4F, 5, 0, 0, -2, 62}},
};

class SphereScan : public testing::TestWithParam<Shear> {};

TEST_P(SphereScan, KeepsItsSpheresWhenItIsResampled) {
  const auto& m = GetParam().srow;
  const std::array<std::int16_t, 3> size = {56, 56, 36};
  std::vector<double> values;
  for (int k = 0; k < size[2]; ++k)
    for (int j = 0; j < size[1]; ++j)
      for (int i = 0; i < size[0]; ++i) {
        const auto ras = [&](std::size_t r) {
          return static_cast<double>(m[4 * r]) * i + static_cast<double>(m[4 * r + 1]) * j +
                 static_cast<double>(m[4 * r + 2]) * k + static_cast<double>(m[4 * r + 3]);
        };
        values.push_back(kAir + light_of(kSpheres, {-ras(0), -ras(1), ras(2)}));
      }
  ScratchFolder dir;
  const fs::path path = dir.path() / "a.nii";
  write_bytes(path, nifti_bytes({.dims = {size[0], size[1], size[2]}, .datatype = 16, .srow = m}, values));
  const VolumeInfo refused = read_volume_info(path);
  EXPECT_EQ(refused.problem_code, "E_SHEAR");
  EXPECT_THAT(refused.problem, HasSubstr("{irregular-slices} resample"));
  EXPECT_GT(refused.shear_shift_mm, 0.1);
  EXPECT_THROW(read_image(path), Error);
  const VolumeFormats mending = volume_formats_with(IrregularSlices::kResample);
  const VolumeInfo info = check_volume(path, mending);
  EXPECT_TRUE(info.readable) << info.problem;
  EXPECT_THAT(info.warning, HasSubstr("W_RESAMPLED"));
  const Volume volume = read_image(path, mending);
  EXPECT_TRUE(same_geometry(volume.geometry, info.geometry, 0));
  expect_spheres(volume, kSpheres, kAir, 1.2);
}

INSTANTIATE_TEST_SUITE_P(Upright, SphereScan, testing::ValuesIn(kShears));

/// Three slices of 4 x 2 voxels of 1 mm, 2 mm apart, each 1 mm further along y (LPS).
Volume stairs(DType type) {
  Volume v{.geometry = {.size = {4, 2, 3}, .spacing = {1, 1, std::sqrt(5.0)}}, .voxels = Tensor(type, {3, 2, 4})};
  v.geometry.direction = {1, 0, 0, 0, 1, 1 / std::sqrt(5.0), 0, 0, 2 / std::sqrt(5.0)};
  for (std::int64_t i = 0; i < 24; ++i)
    if (type == DType::kI32)
      v.voxels.as<std::int32_t>()[i] = static_cast<std::int32_t>(i + 1);
    else
      v.voxels.as<float>()[i] = static_cast<float>(i + 1);
  return v;
}

TEST(Upright, TheGridHoldsAllVoxelsAndKeepsTheSlices) {
  const Geometry grid = upright_grid(stairs(DType::kF32).geometry);
  EXPECT_THAT(grid.size, testing::ElementsAre(4, 4, 3));
  for (std::size_t a = 0; a < 3; ++a) EXPECT_NEAR(grid.spacing[a], a == 2 ? 2 : 1, 1e-12);
  EXPECT_EQ(orientation_code(grid), "LPS");
}

TEST(Upright, ShiftsByWholeVoxelsAreExact) {
  for (const DType type : {DType::kF32, DType::kI32}) {
    const Volume sheared = stairs(type);
    const Volume out = resample_on_grid(sheared, upright_grid(sheared.geometry));
    const auto value = [&](const Volume& v, std::int64_t at) {
      return type == DType::kI32 ? static_cast<float>(v.voxels.as<std::int32_t>()[at]) : v.voxels.as<float>()[at];
    };
    for (std::int64_t z = 0; z < 3; ++z)
      for (std::int64_t y = 0; y < 4; ++y)
        for (std::int64_t x = 0; x < 4; ++x) {
          const bool inside = y >= z && y < z + 2;
          const float expected = inside ? value(sheared, (z * 2 + y - z) * 4 + x) : type == DType::kI32 ? 0.0F : 1.0F;
          EXPECT_NEAR(value(out, (z * 4 + y) * 4 + x), expected, 1e-4) << x << " " << y << " " << z;
        }
  }
}

TEST(Upright, AxesInOnePlaneAreRefusedAllTheSame) {
  ScratchFolder dir;
  write_bytes(dir.path() / "a.nii", nifti_bytes({.srow = {1, 1, 0, 0, 0, 0.01F, 0, 0, 0, 0, 1, 0}}, {1}));
  const VolumeInfo info = read_volume_info(dir.path() / "a.nii", volume_formats_with(IrregularSlices::kResample));
  EXPECT_FALSE(info.readable);
  EXPECT_THAT(info.problem, HasSubstr("set them again"));
}

TEST(Upright, NrrdAndMetaImageAreMendedToo) {
  ScratchFolder dir;
  write_bytes(dir.path() / "a.nrrd",
              "NRRD0004\ntype: short\ndimension: 3\nspace: LPS\nsizes: 4 3 2\nspace directions: (1,0,0) (0.2,1,0) "
              "(0,0,3)\nendian: little\nencoding: raw\nspace origin: (0,0,0)\n\n" +
                  std::string(48, '\1'));
  write_bytes(
      dir.path() / "a.mha",
      "ObjectType = Image\nNDims = 3\nBinaryData = True\nBinaryDataByteOrderMSB = False\nTransformMatrix = 1 0 0 "
      "0.2 1 0 0 0 1\nOffset = 0 0 0\nElementSpacing = 1 1 3\nDimSize = 4 3 2\nElementType = MET_SHORT\n"
      "ElementDataFile = LOCAL\n" +
          std::string(48, '\1'));
  for (const char* name : {"a.nrrd", "a.mha"}) {
    EXPECT_EQ(read_volume_info(dir.path() / name).problem_code, "E_SHEAR") << name;
    const Volume v = read_image(dir.path() / name, volume_formats_with(IrregularSlices::kResample));
    EXPECT_EQ(v.geometry.size[0], 5) << name;
  }
}

}  // namespace
}  // namespace voxshard
