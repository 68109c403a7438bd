// DICOM series through the table of volume formats: addresses, voxels, damage, and real files.
#include "io/volume/dicom.h"

#include "tests/io/dicom_files.h"
#include "tests/io/test_files.h"

namespace voxshard {
namespace {

using testing::Each;
using testing::ElementsAre;
using testing::HasSubstr;

/// Writes slices of 2 x 2 pixels at z = 0, 5, 10 ... into a folder; slice i holds 10 i + {0, 1, 2, 3}.
void write_series(const fs::path& folder, int count, const DicomSpec& common = {}) {
  for (int i = 0; i < count; ++i) {
    DicomSpec spec = common;
    spec.position = {{1, 2, 5.0 * i}};
    spec.instance = spec.series + "." + std::to_string(i);
    const auto base = static_cast<std::int16_t>(10 * i);
    // Names run against the positions.
    write_bytes(folder / (std::to_string(count - i) + ".dcm"),
                dicom_bytes(spec, {base, static_cast<std::int16_t>(base + 1), static_cast<std::int16_t>(base + 2),
                                   static_cast<std::int16_t>(base + 3)}));
  }
}

std::vector<float> values(const Volume& volume) {
  const auto* v = volume.voxels.as<float>();
  return {v, v + volume.voxels.count()};
}

TEST(DicomVolume, AFolderWithOneSeriesIsReadInHounsfieldUnits) {
  ScratchFolder dir;
  write_series(dir.path() / "scan", 3);
  write_bytes(dir.path() / "scan" / "notes.txt", "not DICOM");
  const Volume ct = read_image(dir.path() / "scan");
  EXPECT_THAT(values(ct),
              ElementsAre(-1024, -1023, -1022, -1021, -1014, -1013, -1012, -1011, -1004, -1003, -1002, -1001));
  EXPECT_THAT(ct.geometry.spacing, ElementsAre(0.75, 0.5, 5));
  EXPECT_THAT(ct.geometry.origin, ElementsAre(1, 2, 0));
  EXPECT_EQ(orientation_code(ct.geometry), "LPS");
}

TEST(DicomVolume, RescalingBelongsToEachSlice) {
  ScratchFolder dir;
  for (int i = 0; i < 2; ++i) {
    DicomSpec spec{.instance = "1.2." + std::to_string(i), .position = {{0, 0, 2.0 * i}}};
    spec.slope = i == 0 ? "2" : "0.5", spec.intercept = i == 0 ? "-100" : "3";
    write_bytes(dir.path() / std::to_string(i), dicom_bytes(spec, {1, 2, 3, -4}));
  }
  EXPECT_THAT(values(read_image(dir.path())), ElementsAre(-98, -96, -94, -108, 3.5, 4, 4.5, 1));
}

TEST(DicomVolume, SignAndBitsBelongToEachFile) {
  ScratchFolder dir;
  const auto add = [&](int i, DicomSpec spec, const std::vector<std::int16_t>& stored) {
    spec.instance = "1.2." + std::to_string(i), spec.position = {{0, 0, 2.0 * i}}, spec.intercept = "0";
    write_bytes(dir.path() / std::to_string(i), dicom_bytes(spec, stored));
  };
  add(0, {.is_signed = 1}, {-1, 2, 3, 4});
  add(1, {.is_signed = 0}, {-1, 2, 3, 4});
  add(2, {.bits = 8, .is_signed = 0}, {0x0201, 0x0403});
  EXPECT_THAT(values(read_image(dir.path())), ElementsAre(-1, 2, 3, 4, 65535, 2, 3, 4, 1, 2, 3, 4));
}

TEST(DicomVolume, SeveralSeriesInAFolderAreListedByTheirAddresses) {
  ScratchFolder dir;
  write_series(dir.path() / "Planted^Name" / "a", 2);
  write_series(dir.path() / "Planted^Name" / "b", 3, {.series = "1.2.3.5"});
  const FoundVolumes found = find_volumes(dir.path());
  ASSERT_EQ(found.volumes.size(), 2U);
  for (const FoundVolume& volume : found.volumes) {
    EXPECT_THAT(volume.id, HasSubstr("ct_"));
    EXPECT_EQ(volume.id.find("Planted"), std::string::npos);
    EXPECT_EQ(volume_stem(volume.path), volume.id);
    EXPECT_TRUE(is_volume_address(volume.path));
  }
  EXPECT_EQ(read_image(found.volumes[0].path).geometry.size[2], 2);
  EXPECT_EQ(read_image(found.volumes[1].path).geometry.size[2], 3);
  EXPECT_EQ(files_of_volume(found.volumes[1].path).size(), 3U);
  expect_error(ErrorKind::kInput, found.volumes[0].path.filename().string(), [&] { read_image(dir.path()); });
  expect_error(ErrorKind::kInput, "no series of that folder",
               [&] { read_image(dir.path() / "#series=ct_000000000000"); });
}

TEST(DicomVolume, AFolderThatChangesIsLookedAtAgain) {
  ScratchFolder dir;
  write_series(dir.path(), 2);
  EXPECT_EQ(read_volume_info(dir.path()).geometry.size[2], 2);
  write_series(dir.path(), 4);
  EXPECT_EQ(read_volume_info(dir.path()).geometry.size[2], 4);
}

TEST(DicomVolume, WhatIsWrongIsToldByTheHeaderAndByTheReader) {
  ScratchFolder dir;
  write_series(dir.path(), 4);
  fs::remove(dir.path() / "2.dcm");
  const VolumeInfo info = read_volume_info(dir.path());
  EXPECT_FALSE(info.readable);
  EXPECT_EQ(info.problem_code, "E_GAP");
  try {
    read_image(dir.path());
    FAIL() << "a series with a gap was read";
  } catch (const Error& e) {
    EXPECT_STREQ(e.code(), "E_GAP");
  }
}

TEST(DicomVolume, PixelsThatAreCutAreNoticedWithoutReadingFurther) {
  ScratchFolder dir;
  write_series(dir.path(), 2);
  const std::string whole = read_bytes(dir.path() / "1.dcm");
  write_bytes(dir.path() / "1.dcm", whole.substr(0, whole.size() - 4));
  expect_error(ErrorKind::kInput, "1 slice in files that are truncated", [&] { read_image(dir.path()); });
  EXPECT_FALSE(read_volume_info(dir.path()).readable) << "its last slice would be missing without a word";
}

TEST(DicomVolume, AFileOfWhichNothingIsReadMayBeASliceOfItsNeighbours) {
  ScratchFolder dir;
  write_series(dir.path(), 2);
  write_bytes(dir.path() / "3.dcm", std::string(128, '\0') + "DICM and nothing more");
  expect_error(ErrorKind::kInput, "may lack slices", [&] { read_image(dir.path()); });
}

TEST(DicomVolume, AHeaderThatPromisesMoreThanTheFileHoldsAllocatesNothing) {
  ScratchFolder dir;
  write_bytes(dir.path() / "1.dcm", dicom_bytes({.rows = 65535, .columns = 65535}, {1, 2, 3, 4}));
  expect_error(ErrorKind::kInput, "holds 8 of the 8589672450 bytes", [&] { read_image(dir.path() / "1.dcm"); });
}

TEST(DicomVolume, APlaceBeyondAllBodiesCountsAsNone) {
  ScratchFolder dir;
  write_bytes(dir.path() / "1.dcm", dicom_bytes({.position = {{0, 0, 1e300}}}, {1, 2, 3, 4}));
  EXPECT_EQ(read_volume_info(dir.path() / "1.dcm").problem_code, "E_POSITION");
}

TEST(DicomVolume, CompressedPixelsThatAreCutAreNoticed) {
  const fs::path file = test_data() / "dicom_tricky" / "cornerstone3D" /
                        "CTImage.dcm_JPEGLSLosslessTransferSyntax_1.2.840.10008.1.2.4.80.dcm";
  REQUIRE_TEST_DATA(file);
  ScratchFolder dir;
  const std::string whole = read_bytes(file);
  for (const std::size_t cut : {std::size_t{20}, std::size_t{1000}, whole.size() / 2}) {
    write_bytes(dir.path() / "cut.dcm", whole.substr(0, whole.size() - cut));
    EXPECT_THROW(read_image(dir.path() / "cut.dcm"), Error) << cut << " bytes less";
  }
}

TEST(DicomVolume, FilesThatAreNoDicomAreNotTakenForIt) {
  ScratchFolder dir;
  write_bytes(dir.path() / "a.dcm", "text");
  write_bytes(dir.path() / "b", "more text than sixteen bytes");
  expect_error(ErrorKind::kInput, "is not named like", [&] { read_image(dir.path() / "a.dcm"); });
  EXPECT_TRUE(find_volumes(dir.path()).volumes.empty());
}

TEST(DicomVolume, LabelsAreWholeNumbers) {
  ScratchFolder dir;
  write_series(dir.path(), 1, {.slope = "0.5", .intercept = "0"});
  expect_error(ErrorKind::kInput, "not integers", [&] { read_label(dir.path()); });
}

// Real files. Numbers: python3-pydicom 2.3.1 (Debian 12), ImagePositionPatient sorted, slope x pixel_array + intercept;
// tests/hospital/series_against_others.py compares every voxel.

TEST(DicomVolume, ARealHeadWhoseFilesAreOutOfOrder) {
  const fs::path folder = test_data() / "dicom_tricky" / "dcm_qa_ct_philips";
  REQUIRE_TEST_DATA(folder);
  const FoundVolumes found = find_volumes(folder);
  ASSERT_EQ(found.volumes.size(), 1U);
  EXPECT_EQ(found.left_out, "1 localizer, 2 object without an image");
  const VolumeInfo info = read_volume_info(found.volumes[0].path);
  EXPECT_THAT(info.geometry.size, ElementsAre(512, 512, 28));
  EXPECT_NEAR(info.geometry.spacing[2], 5, 1e-9);
}

TEST(DicomVolume, PixelsWhoseSignIsNotThatOfTheHeaderAreRefused) {
  const fs::path file = test_data() / "dicom_tricky" / "pydicom" / "J2K_pixelrep_mismatch.dcm";
  REQUIRE_TEST_DATA(file);
  expect_error(ErrorKind::kInput, "its JPEG 2000 pixels are", [&] { read_image(file); });
}

TEST(DicomVolume, EveryTransferSyntaxGivesTheSameVoxels) {
  const fs::path folder = test_data() / "dicom_tricky" / "cornerstone3D";
  REQUIRE_TEST_DATA(folder);
  const Volume expected = read_image(folder / "CTImage.dcm");
  int equal = 0;
  for (const auto& entry : fs::directory_iterator(folder)) {
    const std::string name = entry.path().filename().string();
    if (!name.starts_with("CTImage.dcm_")) continue;
    const Volume decoded = read_image(entry.path());
    ASSERT_EQ(decoded.voxels.shape(), expected.voxels.shape()) << name;
    // These two syntaxes lose information; the others give the bytes back.
    const bool lossy = name.ends_with(".4.51.dcm") || name.ends_with(".4.91.dcm");
    const std::vector<float> a = values(decoded), b = values(expected);
    float most = 0;
    // Beside the edge of the field of view, of 2000 HU, a lossy padding is neither air nor padding.
    for (std::size_t i = 0; i < a.size(); ++i)
      if (!lossy || (a[i] >= -1024 && b[i] > -1024)) most = std::max(most, std::abs(a[i] - b[i]));
    EXPECT_LE(most, lossy ? 64 : 0) << name;
    ++equal;
  }
  EXPECT_EQ(equal, 11);
}

}  // namespace
}  // namespace voxshard
