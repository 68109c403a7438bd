// Reading and writing volumes: scalar types, slopes, geometry, and files that are broken in the ways users meet.
#include "io/volume/volume.h"

#include <cmath>
#include <limits>
#include <numbers>

#include "io/volume/nifti_header.h"
#include "tests/io/test_files.h"

namespace voxshard {
namespace {

Geometry oblique() {
  const double a = 0.3, b = -0.2;  // rotations about z, then x
  return {.size = {5, 4, 3},
          .origin = {-120.25, 31.5, 812.125},
          .spacing = {0.75, 0.8125, 2.5},
          .direction = {std::cos(a), -std::sin(a) * std::cos(b), std::sin(a) * std::sin(b), std::sin(a),
                        std::cos(a) * std::cos(b), -std::cos(a) * std::sin(b), 0, std::sin(b), std::cos(b)}};
}

Volume numbered(const Geometry& g, DType type) {
  Volume v{g, Tensor(type, g.shape())};
  for (std::int64_t i = 0; i < v.voxels.count(); ++i) store(v.voxels.view(), i, static_cast<double>(i));
  return v;
}

TEST(Volume, GeometrySurvivesWriteAndRead) {
  ScratchFolder dir;
  Geometry flipped = oblique();
  for (int r = 0; r < 3; ++r) flipped.direction[3 * r + 1] *= -1;  // left-handed
  for (const Geometry& g : {Geometry{.size = {2, 3, 4}}, oblique(), flipped}) {
    for (const char* name : {"a.nii", "a.nii.gz"}) {
      write_volume(dir.path() / name, numbered(g, DType::kF32), DiskType::kF32);
      const Volume back = read_image(dir.path() / name);
      EXPECT_TRUE(same_geometry(g, back.geometry, 1e-5)) << name;
      for (std::int64_t i = 0; i < back.voxels.count(); ++i)
        ASSERT_EQ(back.voxels.as<float>()[i], static_cast<float>(i));
      const VolumeInfo info = read_volume_info(dir.path() / name);
      EXPECT_EQ(info.qform_code, 1);
      EXPECT_EQ(info.sform_code, 1);
      EXPECT_LT(info.forms_gap_mm, 1e-3);
      EXPECT_TRUE(info.forms_agree);
    }
  }
}

TEST(Volume, WritingWhatWasReadTwiceGivesTheSameGeometryExactly) {
  ScratchFolder dir;
  write_volume(dir.path() / "a.nii", numbered(oblique(), DType::kI32), DiskType::kU8);
  const Volume once = read_label(dir.path() / "a.nii");
  write_volume(dir.path() / "b.nii", once, DiskType::kU8);
  EXPECT_TRUE(same_geometry(once.geometry, read_label(dir.path() / "b.nii").geometry, 1e-6));
}

TEST(Volume, AllDiskTypesGiveTheLabelsBack) {
  ScratchFolder dir;
  const Volume v = numbered(oblique(), DType::kI32);
  for (DiskType type : {DiskType::kU8, DiskType::kI16, DiskType::kU16, DiskType::kI32, DiskType::kF32}) {
    write_volume(dir.path() / "a.nii.gz", v, type);
    EXPECT_TRUE(compare(v.voxels.view(), read_label(dir.path() / "a.nii.gz").voxels.view()).bit_equal);
  }
}

TEST(Volume, TheSameVolumeGivesTheSameBytes) {
  ScratchFolder dir;
  const Volume v = numbered(oblique(), DType::kI32);
  write_volume(dir.path() / "a.nii.gz", v, DiskType::kU8);
  write_volume(dir.path() / "b.nii.gz", v, DiskType::kU8);
  const std::string bytes = read_bytes(dir.path() / "a.nii.gz");
  EXPECT_EQ(bytes, read_bytes(dir.path() / "b.nii.gz"));
  EXPECT_EQ(bytes.substr(4, 4), std::string(4, '\0')) << "gzip time";
  EXPECT_EQ(dir.files(), 2u) << "temporary files are gone";
}

TEST(Volume, HeaderHoldsNoFreeText) {
  ScratchFolder dir;
  write_volume(dir.path() / "a.nii", numbered(oblique(), DType::kI32), DiskType::kU8);
  EXPECT_EQ(read_bytes(dir.path() / "a.nii").substr(148, 80 + 24), std::string(104, '\0')) << "descrip, aux_file";
}

TEST(Volume, AFailedWriteLeavesNoFile) {
  ScratchFolder dir;
  const Volume v = numbered(oblique(), DType::kF32);
  expect_error(ErrorKind::kOutput, "folder exists",
               [&] { write_volume(dir.path() / "no" / "a.nii", v, DiskType::kF32); });
  v.voxels.as<float>()[3] = 300;
  expect_error(ErrorKind::kOutput, "(3, 0, 0)", [&] { write_volume(dir.path() / "a.nii", v, DiskType::kU8); });
  expect_error(ErrorKind::kOutput, ".nii.gz", [&] { write_volume(dir.path() / "a.mgz", v, DiskType::kF32); });
  EXPECT_EQ(dir.files(), 0u);
}

TEST(Volume, EveryScalarTypeInBothByteOrdersReadsTheSame) {
  ScratchFolder dir;
  for (std::int16_t type : std::vector<std::int16_t>{2, 4, 8, 16, 64, 256, 512, 768, 1024, 1280})
    for (bool big : {false, true}) {
      write_bytes(dir.path() / "a.nii",
                  nifti_bytes({.datatype = type, .big_endian = big}, {0, 1, 2, 3, 40, 50, 60, 127}));
      const Volume image = read_image(dir.path() / "a.nii"), label = read_label(dir.path() / "a.nii");
      EXPECT_EQ(image.voxels.as<float>()[7], 127) << type << big;
      EXPECT_EQ(label.voxels.as<std::int32_t>()[4], 40) << type << big;
      EXPECT_EQ(read_volume_info(dir.path() / "a.nii").big_endian, big);
    }
}

TEST(Volume, SlopeAndInterceptAreAppliedAndSlopeZeroOrNanIsNone) {
  ScratchFolder dir;
  auto second = [&](float slope, float intercept) {
    write_bytes(dir.path() / "a.nii", nifti_bytes({.datatype = 4, .slope = slope, .intercept = intercept}, {0, 10}));
    return read_image(dir.path() / "a.nii").voxels.as<float>()[1];
  };
  EXPECT_FLOAT_EQ(second(0.5f, -1000), -995);
  EXPECT_FLOAT_EQ(second(1, -1024), -1014);
  EXPECT_FLOAT_EQ(second(0, 7), 10);
  EXPECT_FLOAT_EQ(second(std::numeric_limits<float>::quiet_NaN(), 7), 10);
}

TEST(Volume, RasBecomesLps) {
  ScratchFolder dir;
  write_bytes(dir.path() / "a.nii",
              nifti_bytes({.srow = {2, 0, 0, 10, 0, 2, 0, 20, 0, 0, 3, 30}, .spacing = {2, 2, 3}}, {1}));
  const Volume v = read_image(dir.path() / "a.nii");
  EXPECT_EQ(orientation_code(v.geometry), "RAS");
  EXPECT_EQ(v.geometry.origin, (std::array<double, 3>{-10, -20, 30}));
  EXPECT_EQ(v.geometry.spacing, (std::array<double, 3>{2, 2, 3}));
}

NiftiSpec sheared(double degrees) {
  const auto s = static_cast<float>(std::sin(degrees * std::numbers::pi / 180)),
             c = static_cast<float>(std::cos(degrees * std::numbers::pi / 180));
  return {.srow = {1, s, 0, 0, 0, c, 0, 0, 0, 0, 1, 0}};
}

TEST(Volume, ASlightShearTakesTheNearestRotationAndAStrongOneIsRefused) {
  ScratchFolder dir;
  const fs::path path = dir.path() / "a.nii";
  write_bytes(path, nifti_bytes(sheared(0.3), {1, 2}));
  const Volume v = read_image(path);
  const auto& d = v.geometry.direction;
  EXPECT_NEAR(d[0] * d[1] + d[3] * d[4] + d[6] * d[7], 0, 1e-12);
  EXPECT_NEAR(std::asin(std::abs(d[1])) * 180 / std::numbers::pi, 0.15, 1e-4) << "half of the shear to each axis";
  EXPECT_EQ(v.voxels.as<float>()[1], 2);
  EXPECT_NEAR(read_volume_info(path).shear_degrees, 0.3, 1e-4);
  NiftiSpec wide = sheared(0.3);
  wide.dims = {101, 101, 1};
  write_bytes(path, nifti_bytes(wide, {1}));
  // Both axes turn by 0.15 degrees towards each other: the far corner moves along x and y by 100 * sin(0.15 degrees).
  const VolumeInfo info = read_volume_info(path);
  EXPECT_NEAR(info.shear_shift_mm, std::sqrt(2.0) * 100 * std::sin(0.15 * std::numbers::pi / 180), 2e-3);
  EXPECT_THAT(info.warning, testing::HasSubstr("sheared by 0.30 degrees; made orthogonal, they move a corner by 0.4"));
  write_bytes(path, nifti_bytes(sheared(0.8), {1, 2}));
  expect_error(ErrorKind::kInput, "sheared sform (0.8", [&] { read_image(path); });
  EXPECT_FALSE(read_volume_info(path).readable);
}

TEST(Volume, ATruncatedFileIsRefusedPlainOrCompressed) {
  ScratchFolder dir;
  const std::string whole = nifti_bytes({.dims = {8, 8, 8}}, {1, 2, 3.5});
  write_bytes(dir.path() / "a.nii", whole.substr(0, whole.size() - 1));
  expect_error(ErrorKind::kInput, "truncated", [&] { read_image(dir.path() / "a.nii"); });
  write_bytes(dir.path() / "b.nii.gz", gzipped(whole.substr(0, whole.size() - 1), dir.path()));
  expect_error(ErrorKind::kInput, "truncated", [&] { read_image(dir.path() / "b.nii.gz"); });
  const std::string packed = gzipped(whole, dir.path());
  for (std::size_t cut = 1; cut < packed.size(); cut += 7) {
    write_bytes(dir.path() / "c.nii.gz", packed.substr(0, packed.size() - cut));
    EXPECT_THROW(read_image(dir.path() / "c.nii.gz"), Error) << cut << " bytes are missing";
  }
}

TEST(Volume, AFileTooSmallForItsVoxelsIsRefusedBeforeMemoryIsTaken) {
  ScratchFolder dir;
  std::string bytes = nifti_bytes({.dims = {1, 1, 1}, .datatype = 2}, {0});
  const std::int16_t side = 900;  // 729 MB, below every limit of sizes
  for (std::size_t at : {42, 44, 46}) std::memcpy(&bytes[at], &side, 2);
  write_bytes(dir.path() / "a.nii.gz", gzipped(bytes, dir.path()));
  expect_error(ErrorKind::kInput, "packed bytes cannot hold the 729000352 bytes",
               [&] { read_image(dir.path() / "a.nii.gz"); });
}

TEST(Volume, AFlippedBitInACompressedFileIsNoticed) {
  ScratchFolder dir;
  std::vector<double> noise;
  for (int i = 0; i < 512; ++i) noise.push_back(i * 7919 % 251);
  const std::string packed = gzipped(nifti_bytes({.dims = {8, 8, 8}, .datatype = 2}, noise), dir.path());
  for (std::size_t at = 10; at < packed.size();
       at += 11) {  // after the gzip header, whose time and system may be anything
    std::string damaged = packed;
    damaged[at] = static_cast<char>(damaged[at] ^ 4);
    write_bytes(dir.path() / "a.nii.gz", damaged);
    EXPECT_THROW(read_image(dir.path() / "a.nii.gz"), Error) << "bit flipped in byte " << at;
  }
}

TEST(Volume, WhatIsNoScalarVolumeIsRefusedWithTheReason) {
  ScratchFolder dir;
  auto refused = [&](const std::string& bytes, const std::string& why) {
    write_bytes(dir.path() / "a.nii", bytes);
    expect_error(ErrorKind::kInput, why, [&] { read_image(dir.path() / "a.nii"); });
  };
  refused("", "empty");
  refused("hello, this is text", "not a NIfTI");
  refused(nifti_bytes({}, {1}).substr(0, 200), "ends inside its header");
  refused(nifti_bytes({}, {1}).substr(0, 352), "truncated");
  refused(nifti_bytes({.dims = {2, 2, 2, 3}}, {1}), "4 dimensions (3 along the 4th: points in time, or channels)");
  std::string vector = nifti_bytes({.dims = {2, 2, 2, 1, 3}}, {1});
  refused(vector, "(3 along the 5th: values of a voxel)");
  vector.replace(68, 2, std::string("\xef\x03", 2));  // NIFTI_INTENT_VECTOR, 1007
  refused(vector, "(3 along the 5th: a vector)");
  std::string spectrum = nifti_bytes({.dims = {2, 2, 2, 3}}, {1});
  spectrum[123] = 2 | 40;  // millimetres, parts per million
  refused(spectrum, "(3 along the 4th: chemical shifts)");
  for (const auto& [unit, name] : {std::pair(8, "seconds"), std::pair(16, "milliseconds"), std::pair(24, "microsec")}) {
    std::string times = nifti_bytes({.dims = {2, 2, 2, 3}}, {1});
    times[123] = static_cast<char>(unit | 2);
    refused(times, std::string("(3 along the 4th: points in time, whose unit is ") + name);
  }
  std::string negative = nifti_bytes({}, {1});
  negative.replace(44, 2, "\xfe\xff");
  refused(negative, "dimension of -2");
  std::string huge = nifti_bytes({}, {1});
  for (std::size_t at : {42, 44, 46}) huge.replace(at, 2, "\xff\x7f");  // 32767 x 32767 x 32767
  refused(huge, "truncated");
  std::string odd = nifti_bytes({}, {1});
  odd[70] = 99;
  refused(odd, "unknown scalar");
  expect_error(ErrorKind::kInput, "does not exist", [&] { read_image(dir.path() / "none.nii.gz"); });
  expect_error(ErrorKind::kInput, "named like", [&] { read_image(dir.path() / "a.dcm"); });
  write_bytes(dir.path() / "b.nii", gzipped(nifti_bytes({}, {1}), dir.path()));
  expect_error(ErrorKind::kInput, "rename", [&] { read_image(dir.path() / "b.nii"); });
}

TEST(Volume, DimensionsOfOneBeyondTheThirdAreIgnoredAndFlatImagesAreOneSliceDeep) {
  ScratchFolder dir;
  write_bytes(dir.path() / "a.nii", nifti_bytes({.dims = {2, 3, 4, 1, 1}}, {1}));
  EXPECT_EQ(read_image(dir.path() / "a.nii").voxels.shape(), (Shape{4, 3, 2}));
  write_bytes(dir.path() / "a.nii", nifti_bytes({.dims = {5, 3}}, {1, 2}));
  const Volume flat = read_image(dir.path() / "a.nii");
  EXPECT_EQ(flat.voxels.shape(), (Shape{1, 3, 5}));
  EXPECT_EQ(flat.voxels.as<float>()[1], 2);
}

TEST(Volume, VoxelsThatAreNotFiniteAreCountedAndTheFirstIsNamed) {
  ScratchFolder dir;
  const double nan = std::numeric_limits<double>::quiet_NaN(), inf = std::numeric_limits<double>::infinity();
  write_bytes(dir.path() / "a.nii", nifti_bytes({.datatype = 64}, {0, 1, 2, nan, 4, inf, 6, 7}));
  expect_error(ErrorKind::kInput, "2 voxels are NaN or infinite", [&] { read_image(dir.path() / "a.nii"); });
  expect_error(ErrorKind::kInput, "(1, 1, 0)", [&] { read_image(dir.path() / "a.nii"); });
  for (bool big : {false, true}) {
    const std::string bytes = nifti_bytes({.dims = {8, 4, 2}, .big_endian = big}, {0, 1, 2, -inf, 4, 5, 6, 7});
    write_bytes(dir.path() / "b.nii.gz", gzipped(bytes, dir.path()));
    expect_error(ErrorKind::kInput, "8 voxels are NaN or infinite, the first at (x, y, z) = (3, 0, 0)",
                 [&] { read_label(dir.path() / "b.nii.gz"); });
  }
  write_bytes(dir.path() / "a.nii", nifti_bytes({.datatype = 64}, {0, 1e300}));
  expect_error(ErrorKind::kInput, "beyond 32-bit floats", [&] { read_image(dir.path() / "a.nii"); });
}

TEST(Volume, LabelsMustBeIntegers) {
  ScratchFolder dir;
  write_bytes(dir.path() / "a.nii", nifti_bytes({}, {0, 1, 0.5, 2}));
  expect_error(ErrorKind::kInput, "2 voxels are not integers, the first at (x, y, z) = (0, 1, 0)",
               [&] { read_label(dir.path() / "a.nii"); });
  write_bytes(dir.path() / "a.nii", nifti_bytes({.datatype = 64}, {0, 1e12}));
  expect_error(ErrorKind::kInput, "outside 32-bit", [&] { read_label(dir.path() / "a.nii"); });
}

TEST(NiftiHeader, BytesAndOffsetOfAnyHeaderAddUpWithoutOverflow) {
  NiftiHeader h{.dimensions = {1 << 20, 1 << 20, 1 << 22}, .datatype = 2};  // 2^62 bytes
  h.vox_offset = 1e300;
  EXPECT_EQ(h.voxel_bytes(), -1);
  EXPECT_EQ(h.data_begin(), std::int64_t{1} << 60);
  h.dimensions[2] = 1 << 20;
  EXPECT_EQ(h.voxel_bytes() + h.data_begin(), std::int64_t{1} << 61);
}

TEST(NiftiHeader, AnSformThatIsNotFiniteIsRefusedEvenBesideAQform) {
  ScratchFolder dir;  // ITK would call abort()
  for (float v : {std::numeric_limits<float>::quiet_NaN(), -std::numeric_limits<float>::infinity(), 1e30F}) {
    for (std::size_t place = 0; place < 12; ++place) {
      NiftiSpec spec{.qform_code = 1, .sform_code = 2};
      spec.srow[place] = v;
      write_bytes(dir.path() / "a.nii", nifti_bytes(spec, {1}));
      expect_error(ErrorKind::kInput, "has an sform with numbers", [&] { read_image(dir.path() / "a.nii"); });
      EXPECT_FALSE(read_volume_info(dir.path() / "a.nii").readable) << v << " at " << place;
    }
  }
}

TEST(NiftiHeader, AnSformWhoseAxesAreOfUnlikeLengthsIsRefusedNotSearchedForEver) {
  ScratchFolder dir;  // the decomposition in ITK would not come to its end
  for (float v : {0x1p31F, 0x1p25F}) {
    NiftiSpec spec{.qform_code = 1, .sform_code = 1};
    const float rows[] = {-1, 1.4e-45F, v, -0.0F, 3.7615819e-37F, -1, 0, -0.0F, 0, 0, 1, 3.6734198e-40F};
    std::copy(std::begin(rows), std::end(rows), std::begin(spec.srow));
    write_bytes(dir.path() / "a.nii", nifti_bytes(spec, {1}));
    expect_error(ErrorKind::kInput, "more than a million times", [&] { read_image(dir.path() / "a.nii"); });
  }
}

}  // namespace
}  // namespace voxshard
