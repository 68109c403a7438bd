// DICOM segmentations against the NRRD label maps that they were made from, or made into, by dcmqi (the files' own test
// data); tests/hospital/segmentations_against_pydicom.py compares every frame with pydicom's.
#include "io/volume/dicom.h"
#include "tests/io/test_files.h"

namespace voxshard {
namespace {

using testing::HasSubstr;

/// Expects the same label at every voxel of `part` that is not 0, at its place in the world, and nothing else in
/// `whole` unless `may_hold_more`.
void expect_labels_of(const Volume& whole, const Volume& part, bool may_hold_more) {
  const auto* labels = whole.voxels.as<std::int32_t>();
  const auto* own = part.voxels.as<std::int32_t>();
  std::int64_t wrong = 0, labelled = 0, found = 0;
  const auto& g = part.geometry;
  for (std::int64_t z = 0; z < g.size[2]; ++z)
    for (std::int64_t y = 0; y < g.size[1]; ++y)
      for (std::int64_t x = 0; x < g.size[0]; ++x, ++own) {
        if (*own == 0) continue;
        ++labelled;
        const auto at =
            whole.geometry.index_of(g.world({static_cast<double>(x), static_cast<double>(y), static_cast<double>(z)}));
        std::array<std::int64_t, 3> i{};
        bool inside = true;
        for (std::size_t a = 0; a < 3; ++a) {
          i[a] = std::lround(at[a]);
          inside = inside && i[a] >= 0 && i[a] < whole.geometry.size[a] && std::abs(at[a] - std::round(at[a])) < 0.05;
        }
        const std::int32_t label =
            inside ? labels[(i[2] * whole.geometry.size[1] + i[1]) * whole.geometry.size[0] + i[0]] : -1;
        wrong += may_hold_more ? label < *own : label != *own;
      }
  for (std::int64_t v = 0; v < whole.voxels.count(); ++v) found += labels[v] != 0;
  EXPECT_GT(labelled, 0);
  EXPECT_EQ(wrong, 0);
  EXPECT_TRUE(may_hold_more || found == labelled) << found << " and " << labelled;
}

TEST(DicomSegmentation, BinaryOnesEqualTheMapsOfDcmqi) {
  const fs::path folder = test_data() / "dicom_tricky" / "dcmqi";
  REQUIRE_TEST_DATA(folder);
  expect_labels_of(read_label(folder / "liver.dcm"), read_label(folder / "liver_seg.nrrd"), false);
  for (const char* size : {"23x38x3", "24x38x3"})
    expect_labels_of(read_label(folder / size / "seg" / "label.seg"), read_label(folder / size / "nrrd" / "label.nrrd"),
                     false);
}

/// The frame between the two is left out. There dcmqi's maps hold a padding value, ours the background.
TEST(DicomSegmentation, LabelMapsEqualTheMapsOfDcmqiInTheSlicesThatTheyHave) {
  const fs::path folder = test_data() / "dicom_tricky" / "dcmqi";
  REQUIRE_TEST_DATA(folder);
  for (const auto& [seg, map] : {std::pair("sparse-labelmap-noppv.dcm", "sparse_labelmap_noppv_seg.nrrd"),
                                 std::pair("sparse-labelmap-ppv5.dcm", "sparse_labelmap_ppv5_seg.nrrd")}) {
    const Volume ours = read_label(folder / seg), theirs = read_label(folder / map);
    ASSERT_EQ(ours.voxels.shape(), theirs.voxels.shape());
    EXPECT_TRUE(same_geometry(ours.geometry, theirs.geometry)) << seg;
    const auto *a = ours.voxels.as<std::int32_t>(), *b = theirs.voxels.as<std::int32_t>();
    const std::int64_t plane = ours.geometry.size[0] * ours.geometry.size[1];
    for (std::int64_t i = 0; i < 3 * plane; ++i) ASSERT_EQ(a[i], i / plane == 1 ? 0 : b[i]) << seg << " voxel " << i;
  }
}

TEST(DicomSegmentation, WhereSegmentsShareVoxelsTheHighestNumberCountsAndThatIsSaid) {
  const fs::path folder = test_data() / "dicom_tricky" / "dcmqi";
  REQUIRE_TEST_DATA(folder);
  const Volume all = read_label(folder / "partial_overlaps.dcm");
  for (const char* name : {"partial_overlaps-1.nrrd", "partial_overlaps-2.nrrd", "partial_overlaps-3.nrrd"})
    expect_labels_of(all, read_label(folder / name), true);
  const VolumeInfo info = read_volume_info(folder / "partial_overlaps.dcm");
  EXPECT_THAT(info.warning, HasSubstr("W_OVERLAP"));
  ASSERT_EQ(info.labels.size(), 5U);
  EXPECT_EQ(info.labels[3], std::pair(4, std::string("LIGHT_BLUE")));
}

TEST(DicomSegmentation, OnesWithoutAPlaceInThePatientAreRefused) {
  const fs::path file = test_data() / "dicom_tricky" / "highdicom" / "seg_image_sm_control_labelmap.dcm";
  REQUIRE_TEST_DATA(file);
  expect_error(ErrorKind::kInput, "ImagePositionPatient", [&] { read_label(file); });
}

}  // namespace
}  // namespace voxshard
