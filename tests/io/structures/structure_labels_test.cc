// Files of structures as label maps on the grid of an image: which class a voxel takes, what is said, what is refused.
#include "io/structures/structure_labels.h"

#include "io/dicom/structures.h"
#include "tests/io/structure_files.h"
#include "tests/io/test_files.h"

namespace voxshard {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

class StructureLabelsTest : public testing::Test {
 protected:
  fs::path write(const std::string& bytes) const {
    write_bytes(scratch_ / "labels.dcm", bytes);
    return scratch_ / "labels.dcm";
  }
  StructureLabels read(const std::string& bytes, const Geometry& image, const std::map<int, int>& classes,
                       const StructureOptions& options = {}) const {
    return read_structures_on(write(bytes), image, classes, options);
  }
  static std::vector<int> voxels(const StructureLabels& made) {
    const auto* labels = made.volume.voxels.as<std::int32_t>();
    return {labels, labels + made.volume.voxels.count()};
  }
  ScratchFolder scratch_{"structure_labels"};
};

const Geometry kSmall{.size = {4, 2, 2}, .spacing = {1, 1, 2}};

std::string two_rois() {
  return structure_set_bytes(
      {.rois = {{.number = 1, .name = "A", .contours = {{.points = square({-0.5, -0.5, 0}, 2)}}},
                {.number = 2, .name = "B", .contours = {{.points = square({0.5, -0.5, 0}, 2)}}}}});
}

TEST_F(StructureLabelsTest, ContoursThatShareVoxelsGiveThemToTheHighestClassAndThatIsSaid) {
  const StructureLabels made = read(two_rois(), kSmall, {{1, 2}, {2, 1}});
  EXPECT_THAT(voxels(made), ElementsAre(2, 2, 1, 0, 2, 2, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0));
  EXPECT_THAT(made.notes, ElementsAre(HasSubstr("W_OVERLAP 2 voxels that several classes share")));
  const StructureLabels one = read(two_rois(), kSmall, {{1, 3}, {2, 3}});
  EXPECT_THAT(voxels(one), ElementsAre(3, 3, 3, 0, 3, 3, 3, 0, 0, 0, 0, 0, 0, 0, 0, 0));
  EXPECT_THAT(one.notes, IsEmpty()) << "two structures of one class are joined";
}

TEST_F(StructureLabelsTest, StructuresWithoutAClassAreLeftOut) {
  EXPECT_THAT(voxels(read(two_rois(), kSmall, {{2, 1}})), ElementsAre(0, 1, 1, 0, 0, 1, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0));
}

TEST_F(StructureLabelsTest, ContoursInAnotherFrameOfReferenceAreRefused) {
  const StructureOptions other{.image = {.frame_of_reference_uid = "1.2.3.10"}};
  expect_error(ErrorKind::kInput, "another frame of reference", [&] { read(two_rois(), kSmall, {{1, 1}}, other); });
  EXPECT_NO_THROW(read(two_rois(), kSmall, {{1, 1}}, {.image = {.frame_of_reference_uid = "1.2.3.9"}}));
  // Some programs write a new frame of reference into each file, but name the series.
  EXPECT_THAT(
      read(two_rois(), kSmall, {{1, 1}}, {.image = {.series_uid = "1.2.3.4", .frame_of_reference_uid = "1.9"}}).notes,
      ElementsAre(HasSubstr("W_REFERENCE")));
  // One of a structure that is left out does not matter.
  const std::string mixed = structure_set_bytes({.rois = {{.number = 1, .contours = {{.points = square({0, 0, 0}, 2)}}},
                                                          {.number = 2, .frame_of_reference = "9"}}});
  EXPECT_NO_THROW(read(mixed, kSmall, {{1, 1}}, {.image = {.frame_of_reference_uid = "1.2.3.9"}}));
}

TEST_F(StructureLabelsTest, AnotherSeriesOfTheSameFrameIsSaid) {
  const StructureOptions other{.image = {.series_uid = "1.9", .frame_of_reference_uid = "1.2.3.9"}};
  EXPECT_THAT(read(two_rois(), kSmall, {{1, 1}}, other).notes, ElementsAre(HasSubstr("W_REFERENCE")));
}

TEST_F(StructureLabelsTest, WhatIsLeftOutOfContoursIsSaid) {
  const Points closed = square({-0.5, -0.5, 0}, 2);
  const Geometry tall{.size = {4, 2, 6}, .spacing = {1, 1, 2}};
  const std::string bytes = structure_set_bytes({.rois = {{.name = "Liver",
                                                           .contours = {{.points = closed},
                                                                        {.points = closed},
                                                                        {.points = {{1, 2, 0}}, .type = "POINT"},
                                                                        {.points = square({-0.5, -0.5, 6}, 2)},
                                                                        {.points = square({-0.5, -0.5, 6.9}, 2)},
                                                                        {.points = square({-0.5, -0.5, 90}, 2)}}}}});
  EXPECT_THAT(read(bytes, tall, {{1, 1}}).notes,
              ElementsAre(HasSubstr("W_GAP 2 slices between contours of \"Liver\""),
                          HasSubstr("W_OUTSIDE 1 contour of \"Liver\""), HasSubstr("W_CONTOURS 1 plane of \"Liver\""),
                          HasSubstr("W_CONTOURS 1 contour of \"Liver\" that repeat"),
                          HasSubstr("W_CONTOURS 1 point or open contour of \"Liver\"")));
}

/// Two segments on 3 x 2 voxels of 1 mm, slices at z = 0 and 2.
SegmentationSpec small_segmentation() {
  return {.segments = {"A", "B"},
          .rows = 2,
          .columns = 3,
          .step = "2",
          .frames = {{.segment = 1, .position = {0, 0, 0}, .values = std::string("\xff\xff\0\0\0\0", 6)},
                     {.segment = 2, .position = {0, 0, 0}, .values = std::string("\0\xff\xff\0\0\0", 6)},
                     {.segment = 2, .position = {0, 0, 2}, .values = std::string("\0\0\0\x50\0\xff", 6)}}};
}

TEST_F(StructureLabelsTest, ASegmentationOnTheGridOfItsImageKeepsItsVoxels) {
  const Geometry image{.size = {3, 2, 2}, .spacing = {1, 1, 2}};
  const StructureLabels made = read(segmentation_bytes(small_segmentation()), image, {{1, 1}, {2, 2}});
  EXPECT_THAT(voxels(made), ElementsAre(1, 2, 2, 0, 0, 0, 0, 0, 0, 0, 0, 2));
  EXPECT_THAT(made.notes, ElementsAre(HasSubstr("W_FRACTION"), HasSubstr("W_OVERLAP 1 voxel ")));
  const StructureLabels swapped = read(segmentation_bytes(small_segmentation()), image, {{1, 5}, {2, 2}});
  EXPECT_THAT(voxels(swapped), ElementsAre(5, 5, 2, 0, 0, 0, 0, 0, 0, 0, 0, 2)) << "the highest class, not number";
  EXPECT_THAT(voxels(read(segmentation_bytes(small_segmentation()), image, {{2, 1}})),
              ElementsAre(0, 1, 1, 0, 0, 0, 0, 0, 0, 0, 0, 1));
}

TEST_F(StructureLabelsTest, ThinSlicesFarApartAreOneSliceOfTheirImageEach) {
  SegmentationSpec spec = small_segmentation();
  spec.step = "";  // the file does not say how far its slices are apart
  const std::string voxel("\xff\0\0\0\0\0", 6);
  spec.frames = {{.position = {0, 0, 1}, .values = voxel}, {.position = {0, 0, 4}, .values = voxel}};
  const Geometry image{.size = {3, 2, 6}};
  const auto slices_of = [&](const std::string& thickness, const Geometry& on) {
    spec.thickness = thickness;
    std::vector<int> slices;
    const std::vector<int> all = voxels(read(segmentation_bytes(spec), on, {{1, 1}}));
    for (std::size_t i = 0; i < all.size(); ++i)
      if (all[i] != 0) slices.push_back(static_cast<int>(i / 6));
    return slices;
  };
  EXPECT_THAT(slices_of("1", image), ElementsAre(1, 4)) << "those between were left out because they are empty";
  for (const char* thickness : {"3", "2.5", ""})
    EXPECT_THAT(slices_of(thickness, image), ElementsAre(0, 1, 2, 3, 4, 5)) << thickness;
  spec.frames.pop_back();
  spec.step = "0.25";
  EXPECT_THAT(slices_of("3", {.size = {3, 2, 6}, .spacing = {1, 1, 0.25}}), ElementsAre(4)) << "as the file says";
}

TEST_F(StructureLabelsTest, AFractionalSegmentHoldsWhatReachesTheThreshold) {
  const Geometry image{.size = {3, 2, 2}, .spacing = {1, 1, 2}};
  EXPECT_THAT(
      voxels(read(segmentation_bytes(small_segmentation()), image, {{2, 1}}, {.limits = {.least_fraction = 0.3}})),
      ElementsAre(0, 1, 1, 0, 0, 0, 0, 0, 0, 1, 0, 1));
  EXPECT_THAT(
      read(segmentation_bytes(small_segmentation()), image, {{2, 1}}, {.limits = {.least_fraction = 0.3}}).notes,
      ElementsAre(HasSubstr("W_FRACTION 1 voxel that a segment fills in part: from 0.30 ")));
}

TEST_F(StructureLabelsTest, ASegmentationOfAPartOfTheImageLiesAtItsPlace) {
  const Geometry larger{.size = {5, 3, 4}, .origin = {-1, 0, -2}, .spacing = {1, 1, 2}};
  const StructureLabels made = read(segmentation_bytes(small_segmentation()), larger, {{1, 1}, {2, 2}});
  const std::vector<int> all = voxels(made);
  EXPECT_EQ(std::count(all.begin(), all.end(), 0), 60 - 4);
  EXPECT_EQ(all[1 * 15 + 0 * 5 + 1], 1);
  EXPECT_EQ(all[1 * 15 + 0 * 5 + 3], 2);
  EXPECT_EQ(all[2 * 15 + 1 * 5 + 3], 2);
}

TEST_F(StructureLabelsTest, ASegmentationWithFlippedAndExchangedAxesLiesAtItsPlace) {
  // Rows of voxels go down and columns to the right of the patient: x is -z of the world, y is -x.
  SegmentationSpec spec = small_segmentation();
  spec.orientation = {0, 0, -1, -1, 0, 0};
  spec.frames = {{.segment = 1, .position = {10, 20, 30}, .values = std::string("\0\xff\0\0\0\0", 6)}};
  // The image is upright: the labelled voxel, column 1 of row 0, lies at x = 10, y = 20, z = 29.
  const Geometry upright{.size = {3, 1, 4}, .origin = {8, 20, 27}};
  const std::vector<int> all = voxels(read(segmentation_bytes(spec), upright, {{1, 1}}));
  EXPECT_EQ(std::count(all.begin(), all.end(), 1), 1);
  EXPECT_EQ(all[2 * 3 + 2], 1);
}

TEST_F(StructureLabelsTest, VoxelsOfAnotherSizeTakeTheNearestAndThatIsSaid) {
  const Geometry fine{.size = {6, 4, 2}, .origin = {-0.25, -0.25, 0}, .spacing = {0.5, 0.5, 2}};
  const StructureLabels made = read(segmentation_bytes(small_segmentation()), fine, {{1, 1}, {2, 2}});
  const std::vector<int> all = voxels(made);
  EXPECT_THAT(std::vector<int>(all.begin(), all.begin() + 18),
              ElementsAre(1, 1, 2, 2, 2, 2, 1, 1, 2, 2, 2, 2, 0, 0, 0, 0, 0, 0));
  EXPECT_THAT(made.notes, ElementsAre(HasSubstr("W_FRACTION"), HasSubstr("W_OVERLAP"), HasSubstr("W_RESAMPLED")));
}

TEST_F(StructureLabelsTest, LabelsOutsideOfTheImageAreCountedAndOtherPlacesRefused) {
  const Geometry cut{.size = {2, 2, 2}, .spacing = {1, 1, 2}};
  EXPECT_THAT(read(segmentation_bytes(small_segmentation()), cut, {{1, 1}}).notes, IsEmpty());
  EXPECT_THAT(read(segmentation_bytes(small_segmentation()), cut, {{2, 1}}).notes,
              ElementsAre(HasSubstr("W_FRACTION"), HasSubstr("W_OUTSIDE 2 labelled voxels")));
  const Geometry away{.size = {2, 2, 2}, .origin = {50, 0, 0}};
  expect_error(ErrorKind::kInput, "shares no place", [&] {
    read(segmentation_bytes(small_segmentation()), away, {{1, 1}});
  });
  const double c = std::cos(0.3), s = std::sin(0.3);
  const Geometry turned{.size = {3, 2, 2}, .direction = {c, -s, 0, s, c, 0, 0, 0, 1}};
  expect_error(ErrorKind::kInput, "turned against its image by 17.19 degrees", [&] {
    read(segmentation_bytes(small_segmentation()), turned, {{1, 1}});
  });
}

TEST_F(StructureLabelsTest, ASegmentationBeyondTheLimitsIsRefusedByItsHeader) {
  expect_error(ErrorKind::kInput, "more than the 5 that are read", [&] {
    read(segmentation_bytes(small_segmentation()), kSmall, {{1, 1}}, {.limits = {.most_voxels = 5}});
  });
}

/// Each SEG of dcmqi on the voxels of its own NRRD map, whose axes other programs wrote.
TEST_F(StructureLabelsTest, PublishedSegmentationsOnTheGridOfTheirMapsEqualThem) {
  const fs::path folder = test_data() / "dicom_tricky" / "dcmqi";
  REQUIRE_TEST_DATA(folder);
  for (const char* size : {"23x38x3", "24x38x3"}) {
    const Volume map = read_label(folder / size / "nrrd" / "label.nrrd");
    const fs::path seg = folder / size / "seg" / "label.seg";
    std::map<int, int> same;
    for (const NamedStructure& one : read_structure_file(seg).structures) same[one.number] = one.number;
    const StructureLabels made = read_structures_on(seg, map.geometry, same);
    const auto* expected = map.voxels.as<std::int32_t>();
    EXPECT_EQ(voxels(made), std::vector<int>(expected, expected + map.voxels.count())) << size;
    EXPECT_THAT(made.notes, IsEmpty());
  }
}

}  // namespace
}  // namespace voxshard
