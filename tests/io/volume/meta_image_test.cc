// MetaImage files written byte by byte: one file or two, packed, and headers that lie. One landmark in all formats.
#include <zlib.h>

#include "io/volume/volume.h"
#include "tests/io/test_files.h"
#include "tests/io/volume/landmark.h"

namespace voxshard {
namespace {

using testing::HasSubstr;

std::string zlib_packed(const std::string& bytes) {
  std::string packed(compressBound(bytes.size()), '\0');
  uLongf size = packed.size();
  compress(reinterpret_cast<Bytef*>(packed.data()), &size, reinterpret_cast<const Bytef*>(bytes.data()), bytes.size());
  return packed.substr(0, size);
}

constexpr const char* kLocal = "ElementDataFile = LOCAL\n";

/// Returns the error of reading a file; empty when it holds the landmark.
std::string meta_problem_of(const ScratchFolder& dir, const std::string& bytes, const std::string& name = "a.mha") {
  write_bytes(dir.path() / name, bytes);
  try {
    expect_landmark(read_image(dir.path() / name), name);
    EXPECT_TRUE(check_volume(dir.path() / name).readable);
    return "";
  } catch (const Error& e) {
    EXPECT_EQ(e.kind(), ErrorKind::kInput) << e.what();
    return e.what();
  }
}

/// The header with `from` replaced by `to`.
std::string meta_fields(const std::string& from, const std::string& to) {
  std::string fields = landmark_meta_fields();
  const std::size_t at = fields.find(from);
  return at == std::string::npos ? ADD_FAILURE() << from, "" : fields.replace(at, from.size(), to);
}

TEST(MetaImage, OneFileOrTwoPlainOrPackedAreRead) {
  ScratchFolder dir;
  const std::string fields = landmark_meta_fields(), voxels = landmark_voxels(), packed = zlib_packed(voxels);
  EXPECT_EQ(meta_problem_of(dir, fields + kLocal + voxels), "");
  EXPECT_EQ(meta_problem_of(dir, fields + "CompressedData = True\n" + kLocal + packed), "");
  EXPECT_EQ(meta_problem_of(dir, fields + "HeaderSize = -1\n" + kLocal + "anything" + voxels), "");
  write_bytes(dir.path() / "a.raw", voxels);
  write_bytes(dir.path() / "a.zraw", packed);
  EXPECT_EQ(meta_problem_of(dir, fields + "ElementDataFile = a.raw\n", "a.mhd"), "");
  EXPECT_EQ(meta_problem_of(dir, fields + "CompressedData = True\nElementDataFile = a.zraw", "a.mhd"), "");
  EXPECT_EQ(files_of_volume(dir.path() / "a.mhd"), (std::vector{dir.path() / "a.mhd", dir.path() / "a.zraw"}));
  write_bytes(dir.path() / "head.raw", "1234" + voxels);
  EXPECT_EQ(meta_problem_of(dir, fields + "HeaderSize = 4\nElementDataFile = head.raw\n", "a.mhd"), "");
  std::string swapped = voxels;
  for (std::size_t i = 0; i < swapped.size(); i += 2) std::swap(swapped[i], swapped[i + 1]);
  EXPECT_EQ(meta_problem_of(dir, meta_fields("OrderMSB = False", "OrderMSB = True") + kLocal + swapped), "");
  EXPECT_TRUE(read_volume_info(dir.path() / "a.mha").big_endian);
}

TEST(MetaImage, TheLandmarkLiesWhereTheOtherFormatsHaveIt) {
  ScratchFolder dir;
  const std::string nifti = nifti_bytes(landmark_nifti(), {0});
  write_bytes(dir.path() / "a.nii", nifti.substr(0, 352) + landmark_voxels());
  expect_landmark(read_image(dir.path() / "a.nii"), "NIfTI-1");
  write_bytes(dir.path() / "b.nii", nifti2_bytes(landmark_nifti(), {0}).substr(0, 544) + landmark_voxels());
  expect_landmark(read_image(dir.path() / "b.nii"), "NIfTI-2");
  for (const char* name : {"c.nii.gz", "c.nrrd", "c.mha"}) {
    write_volume(dir.path() / name, read_image(dir.path() / "a.nii"), DiskType::kI16);
    expect_landmark(read_image(dir.path() / name), name);
  }
}

TEST(MetaImage, AHeaderWithoutAMatrixIsReadWithAWarning) {
  ScratchFolder dir;
  const std::string fields = "NDims = 3\nDimSize = 5 4 3\nElementSize = 2 3 5\nElementType = MET_SHORT\n";
  write_bytes(dir.path() / "a.mha", fields + kLocal + landmark_voxels());
  const VolumeInfo info = read_volume_info(dir.path() / "a.mha");
  EXPECT_TRUE(info.readable);
  EXPECT_EQ(info.geometry.spacing, (std::array<double, 3>{2, 3, 5}));
  EXPECT_THAT(info.warning, HasSubstr("W_FORMS its header does not say how it lies"));
}

TEST(MetaImage, LastAxesOfOneValueAreLeftOut) {
  ScratchFolder dir;
  const auto file = [](const std::string& sizes) {
    return "ObjectType = Image\nNDims = 4\nOffset = 5 6 7 0\nTransformMatrix = 0 1 0 0 1 0 0 0 0 0 1 0 0 0 0 1\n"
           "ElementSpacing = 2 3 5 1\nElementType = MET_SHORT\nDimSize = " +
           sizes + "\n" + kLocal + landmark_voxels();
  };
  write_bytes(dir.path() / "a.mha", file("5 4 3 1"));
  const Volume volume = read_label(dir.path() / "a.mha");
  EXPECT_EQ(volume.geometry.size, (std::array<std::int64_t, 3>{5, 4, 3}));
  EXPECT_EQ(volume.geometry.spacing, (std::array<double, 3>{2, 3, 5}));
  EXPECT_EQ(volume.geometry.origin, (std::array<double, 3>{5, 6, 7}));
  EXPECT_EQ(volume.geometry.direction, (std::array<double, 9>{0, 1, 0, 1, 0, 0, 0, 0, 1}));
  EXPECT_EQ(volume.voxels.as<std::int32_t>()[(2 * 4 + 1) * 5 + 3], 1000);
  for (const char* sizes : {"5 4 1 3", "1 5 4 3"}) {
    write_bytes(dir.path() / "a.mha", file(sizes));
    expect_error(ErrorKind::kInput, "has 4 dimensions", [&] { read_label(dir.path() / "a.mha"); });
  }
}

TEST(MetaImage, WhatIsNoScalarVolumeIsRefusedByName) {
  ScratchFolder dir;
  const std::string fields = landmark_meta_fields(), voxels = landmark_voxels();
  const auto refused = [&](const std::string& header, const std::string& why) {
    EXPECT_THAT(meta_problem_of(dir, header + kLocal + voxels), HasSubstr(why));
  };
  refused(meta_fields("NDims = 3", "NDims = 4"), "3 sizes of 4 dimensions");
  refused(meta_fields("NDims = 3\nBinary", "NDims = 2\nBinary"), "3 sizes of 2 dimensions");
  refused("NDims = 2\nDimSize = 5 12\nElementType = MET_SHORT\n", "has 2 dimensions");
  refused(fields + "ElementNumberOfChannels = 3\n", "3 numbers per voxel");
  refused(meta_fields("BinaryData = True", "BinaryData = False"), "voxels as text");
  refused(meta_fields("MET_SHORT", "MET_STRING"), "type MET_STRING");
  refused(meta_fields("= Image", "= Tube"), "type Tube");
  refused(meta_fields("BinaryData = True", "BinaryData = perhaps"), "expected True or False");
  refused(fields + "ElementToIntensityFunctionSlope = 2\n", "intensity function");
  refused(meta_fields("ElementSpacing = 2 3 5", "ElementSpacing = 2 3"), "3, 3 and 9 numbers");
  refused(meta_fields("ElementSpacing = 2 3 5", "ElementSpacing = 2 0 5"), "axes with zeros");
  refused(meta_fields("ElementSpacing = 2 3 5", "ElementSpacing = 2 inf 5"), "expected numbers");
  refused(fields + "NDims = 3\n", "two fields \"NDims\"");
  refused(fields + "words\n", "a line that is no field");
  refused("hello\n", "is not a MetaImage file");
  EXPECT_THAT(meta_problem_of(dir, fields), HasSubstr("without the field \"ElementDataFile\""));
  EXPECT_THAT(meta_problem_of(dir, fields + "ElementDataFile = LIST\na.raw\n", "a.mhd"), HasSubstr("several files"));
  EXPECT_THAT(meta_problem_of(dir, fields + "ElementDataFile = a%03d.raw 1 3 1\n", "a.mhd"),
              HasSubstr("several files"));
  for (const char* name : {"../a.raw", "/etc/passwd", ".a.raw", "a/b.raw"})
    EXPECT_THAT(meta_problem_of(dir, fields + "ElementDataFile = " + name + "\n", "a.mhd"),
                HasSubstr("names the data file"));
}

TEST(MetaImage, TruncatedAndDamagedVoxelsAreNoticed) {
  ScratchFolder dir;
  const std::string fields = landmark_meta_fields(), voxels = landmark_voxels(), packed = zlib_packed(voxels);
  EXPECT_THAT(meta_problem_of(dir, fields + kLocal + voxels.substr(1)), HasSubstr("is truncated"));
  const std::string header = fields + "CompressedData = True\n" + kLocal;
  write_bytes(dir.path() / "whole.mha", fields + kLocal + voxels);
  const Volume whole = read_label(dir.path() / "whole.mha");
  for (std::size_t cut = 1; cut <= packed.size(); ++cut)
    EXPECT_THAT(meta_problem_of(dir, header + packed.substr(0, packed.size() - cut)), HasSubstr("truncated")) << cut;
  for (std::size_t at = 2; at < packed.size(); ++at) {
    std::string damaged = packed;
    damaged[at] = static_cast<char>(damaged[at] ^ 4);
    if (!meta_problem_of(dir, header + damaged).empty()) continue;
    // A copy from further back in a run of zeros is the same copy.
    EXPECT_TRUE(compare(read_label(dir.path() / "a.mha").voxels.view(), whole.voxels.view()).bit_equal) << at;
  }
  EXPECT_THAT(meta_problem_of(dir, header + zlib_packed(voxels.substr(2))),
              HasSubstr("truncated: it holds 118 of the 120"));
  const std::string bomb(80 << 20, '\0');
  EXPECT_THAT(meta_problem_of(dir, header + zlib_packed(voxels + bomb)), HasSubstr("64 MiB behind"));
}

}  // namespace
}  // namespace voxshard
