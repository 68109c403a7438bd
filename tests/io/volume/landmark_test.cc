// LPS and RAS are never mixed: the landmark lies at its place in the world in every format that is read, through every
// way to a volume. NRRD and MetaImage have theirs beside their other tests.
#include "tests/io/volume/landmark.h"

#include "io/structures/structure_labels.h"
#include "tests/io/archive_files.h"
#include "tests/io/structure_files.h"

namespace voxshard {
namespace {

/// The numbers of landmark_nifti() as a quaternion: NIfTI's other way to say how a volume lies.
std::string with_qform(std::string nifti) {
  // The axes in RAS are (-0.6, -0.8, 0), (0, 0, -1) and (-0.8, 0.6, 0): the third is minus the product of the first
  // two, so qfac is -1 and the rotation has the columns (-0.6, -0.8, 0), (0, 0, -1), (0.8, -0.6, 0).
  const auto put = [&](std::size_t at, auto value) { std::memcpy(&nifti[at], &value, sizeof value); };
  const std::array<std::array<double, 3>, 3> r = {{{-0.6, 0, 0.8}, {-0.8, 0, -0.6}, {0, -1, 0}}};
  const double a = 0.5 * std::sqrt(1 + r[0][0] + r[1][1] + r[2][2]);
  put(76, -1.0F);
  put(252, std::int16_t{1});
  put(254, std::int16_t{0});
  put(256, static_cast<float>((r[2][1] - r[1][2]) / (4 * a)));
  put(260, static_cast<float>((r[0][2] - r[2][0]) / (4 * a)));
  put(264, static_cast<float>((r[1][0] - r[0][1]) / (4 * a)));
  for (std::size_t i = 0; i < 3; ++i)
    put(268 + 4 * i, static_cast<float>(kLandmark.geometry.origin[i] * (i < 2 ? -1 : 1)));
  return nifti;
}

std::vector<double> landmark_values(double value) {
  std::vector<double> values(60);
  values[(2 * 4 + 1) * 5 + 3] = value;
  return values;
}

/// The slices of a series, the last one first.
std::vector<PackedEntry> landmark_slices() {
  std::vector<PackedEntry> files;
  for (int z = 2; z >= 0; --z) {
    DicomSpec spec{.instance = "1.2.3.1." + std::to_string(z), .position = landmark_slice(z)};
    spec.rows = 4, spec.columns = 5, spec.pixel_spacing = "3\\2", spec.intercept = "0";
    spec.orientation = landmark_cosines();
    std::vector<std::int16_t> stored(20);
    if (z == 2) stored[1 * 5 + 3] = 1000;
    files.push_back({"study/" + std::to_string(2 - z), dicom_bytes(spec, stored)});
  }
  return files;
}

SegmentationSpec landmark_segmentation() {
  SegmentationSpec seg{.orientation = landmark_cosines(), .spacing = {3, 2}, .rows = 4, .columns = 5};
  seg.step = "5";
  for (int z = 0; z < 3; ++z) {
    std::string values(20, '\0');
    if (z == 2) values[1 * 5 + 3] = '\xff';
    seg.frames.push_back({.position = landmark_slice(z), .values = values});
  }
  return seg;
}

TEST(LandmarkInTheWorld, NiftiIsRasByEitherTransform) {
  ScratchFolder dir;
  const std::string bytes = nifti_bytes(landmark_nifti(), landmark_values(1000));
  write_bytes(dir.path() / "s.nii", bytes);
  expect_landmark(read_image(dir.path() / "s.nii"), "sform");
  write_bytes(dir.path() / "q.nii", with_qform(bytes));
  EXPECT_EQ(read_volume_info(dir.path() / "q.nii").form_used, "qform");
  expect_landmark(read_image(dir.path() / "q.nii"), "qform");
  write_bytes(dir.path() / "2.nii", nifti2_bytes(landmark_nifti(), landmark_values(1000)));
  expect_landmark(read_image(dir.path() / "2.nii"), "NIfTI-2");
  expect_landmark(read_label(dir.path() / "s.nii"), "a label map");
}

TEST(LandmarkInTheWorld, ADicomSeriesIsLpsAlsoInAnArchive) {
  ScratchFolder dir;
  for (const PackedEntry& file : landmark_slices()) write_bytes(dir.path() / file.name, file.bytes);
  expect_landmark_in_the_world(read_image(dir.path() / "study"), 1000, "a series");
  for (const std::string kind : {"zip", "tar.gz"}) {
    const fs::path packed = dir.path() / ("study." + kind);
    write_bytes(packed, archive_bytes(kind, landmark_slices()));
    expect_landmark_in_the_world(read_image(packed), 1000, kind);
  }
  const fs::path packed = dir.path() / "nifti.zip";
  write_bytes(packed, archive_bytes("zip", {{"a.nii", nifti_bytes(landmark_nifti(), landmark_values(1000))}}));
  expect_landmark(read_image(packed), "NIfTI in an archive");
}

TEST(LandmarkInTheWorld, DicomStructuresAreLpsOnTheirOwnGridAndOnAnImagesOne) {
  ScratchFolder dir;
  write_bytes(dir.path() / "seg.dcm", segmentation_bytes(landmark_segmentation()));
  expect_landmark_in_the_world(read_label(dir.path() / "seg.dcm"), 1, "a segmentation");
  write_bytes(dir.path() / "image.nii", nifti_bytes(landmark_nifti(), landmark_values(1000)));
  const Geometry image = grid_of_image(dir.path() / "image.nii");
  expect_landmark_in_the_world(read_structures_on(dir.path() / "seg.dcm", image, {{1, 1}}).volume, 1,
                               "a segmentation on a NIfTI image");
  // A square of 1.6 mm around the landmark, in the plane of its slice.
  const auto& d = kLandmark.geometry.direction;
  ContourSpec contour;
  for (const auto& [x, y] : {std::pair(-0.8, -0.8), std::pair(0.8, -0.8), std::pair(0.8, 0.8), std::pair(-0.8, 0.8)}) {
    std::array<double, 3> point = kLandmark.lps_mm;
    for (std::size_t r = 0; r < 3; ++r) point[r] += x * d[3 * r] + y * d[3 * r + 1];
    contour.points.push_back(point);
  }
  write_bytes(dir.path() / "rs.dcm", structure_set_bytes({.rois = {{.contours = {contour}}}}));
  expect_landmark_in_the_world(read_structures_on(dir.path() / "rs.dcm", image, {{1, 1}}).volume, 1,
                               "a contour on a NIfTI image");
}

TEST(LandmarkInTheWorld, EveryWrittenFormatKeepsIt) {
  ScratchFolder dir;
  for (const PackedEntry& file : landmark_slices()) write_bytes(dir.path() / file.name, file.bytes);
  const Volume series = read_image(dir.path() / "study");
  for (const std::string name : {"a.nii.gz", "a.nrrd", "a.mha"}) {
    write_volume(dir.path() / name, series, DiskType::kI16);
    expect_landmark_in_the_world(read_image(dir.path() / name), 1000, "a series as " + name);
  }
}

}  // namespace
}  // namespace voxshard
