// RT structure sets that are written: their contours fill back to the label map, voxel for voxel; contours of masks.
#include "io/dicom_out/structure_set.h"

#include "io/dicom/structure_contours.h"
#include "io/dicom/structures.h"
#include "io/dicom_out/mask_contours.h"
#include "tests/io/dicom_out/object_scene.h"

namespace voxshard {
namespace {

using testing::HasSubstr;

/// Fills contours by the even-odd rule: a pixel's centre lies inside when an odd number of upright edges is to its
/// left.
std::vector<std::uint8_t> filled(const std::vector<PixelContour>& contours, std::int64_t rows, std::int64_t columns) {
  std::vector<std::uint8_t> mask(static_cast<std::size_t>(rows * columns));
  for (const PixelContour& contour : contours)
    for (std::size_t i = 0; i < contour.size(); ++i) {
      const auto &a = contour[i], &b = contour[(i + 1) % contour.size()];
      EXPECT_TRUE(a[0] == b[0] || a[1] == b[1]) << "edges run along pixels";
      if (a[0] != b[0]) continue;
      for (std::int32_t y = std::min(a[1], b[1]); y < std::max(a[1], b[1]); ++y)
        for (std::int64_t x = a[0]; x < columns; ++x) mask[y * columns + x] ^= 1;
    }
  return mask;
}

/// Returns the number of parts of a mask whose pixels are joined by edges.
std::size_t parts_of(std::vector<std::uint8_t> mask, std::int64_t rows, std::int64_t columns) {
  std::size_t parts = 0;
  for (std::int64_t first = 0; first < rows * columns; ++first) {
    if (mask[first] == 0) continue;
    ++parts;
    std::vector<std::int64_t> open = {first};
    while (!open.empty()) {
      const std::int64_t at = open.back();
      open.pop_back();
      if (std::exchange(mask[at], std::uint8_t{0}) == 0) continue;
      if (at % columns > 0) open.push_back(at - 1);
      if (at % columns < columns - 1) open.push_back(at + 1);
      if (at >= columns) open.push_back(at - columns);
      if (at < (rows - 1) * columns) open.push_back(at + columns);
    }
  }
  return parts;
}

TEST(MaskContours, FillBackToTheMaskWithOneContourForEachPart) {
  std::mt19937 random(11);
  for (int turn = 0; turn < 2000; ++turn) {
    const std::int64_t rows = 1 + random() % 9, columns = 1 + random() % 11;
    const auto density = 1 + random() % 9;
    std::vector<std::uint8_t> mask(static_cast<std::size_t>(rows * columns));
    for (std::uint8_t& pixel : mask) pixel = random() % 10 < density;
    const auto contours = mask_contours(mask, rows, columns);
    ASSERT_EQ(filled(contours, rows, columns), mask) << "turn " << turn;
    ASSERT_EQ(contours.size(), parts_of(mask, rows, columns)) << "turn " << turn;
    // Tools that fill each contour by itself and take all of them together find the same mask.
    std::vector<std::uint8_t> together(mask.size());
    for (const PixelContour& one : contours) {
      const std::vector<std::uint8_t> alone = filled({one}, rows, columns);
      for (std::size_t i = 0; i < together.size(); ++i) together[i] |= alone[i];
    }
    ASSERT_EQ(together, mask) << "turn " << turn;
  }
}

TEST(MaskContours, AHoleIsJoinedByAKeyhole) {
  const std::vector<std::uint8_t> ring = {1, 1, 1, 1, 0, 1, 1, 1, 1};
  const auto contours = mask_contours(ring, 3, 3);
  ASSERT_EQ(contours.size(), 1u);
  EXPECT_EQ(contours[0].size(), 10u) << "four outer corners, four of the hole, and the keyhole's two ends";
  EXPECT_EQ(std::ranges::count(contours[0], std::array<std::int32_t, 2>{0, 1}), 2) << "left and come back to";
}

TEST(MaskContours, OnlyCornersAreListed) {
  const auto contours = mask_contours(std::vector<std::uint8_t>(6, 1), 2, 3);
  ASSERT_EQ(contours.size(), 1u);
  EXPECT_THAT(contours[0],
              testing::UnorderedElementsAre(std::array{0, 0}, std::array{3, 0}, std::array{3, 2}, std::array{0, 2}));
  EXPECT_TRUE(mask_contours(std::vector<std::uint8_t>(6, 0), 2, 3).empty());
}

TEST(StructureSetObject, FillsBackToTheLabelMapInEveryPosition) {
  for (const auto& [name, spec] : series_positions()) {
    const ObjectScene scene(spec);
    write_structure_set(scene.file("a.rtstruct.dcm"), scene.labels(), SegmentTerms::builtin());
    std::vector<std::string> notes;
    EXPECT_EQ(scene.read_back("a.rtstruct.dcm", &notes), scene.expected()) << name;
    for (const std::string& note : notes) EXPECT_THAT(note, HasSubstr("W_GAP")) << name;
  }
}

TEST(StructureSetObject, HasAnyNumberOfPointsInAContour) {
  ObjectScene scene({.columns = 120, .rows = 120, .slices = 1});
  auto* v = scene.voxels().as<std::int32_t>();
  for (std::int64_t y = 0; y < 120; ++y)  // one part with some 1800 holes, whose text is longer than 64 KiB
    for (std::int64_t x = 0; x < 120; ++x) v[y * 120 + x] = x == 0 || y % 2 == 0 || (x % 2 == 1 && y % 4 == 1);
  write_structure_set(scene.file("a.rtstruct.dcm"), scene.labels(), SegmentTerms::builtin());
  EXPECT_EQ(scene.read_back("a.rtstruct.dcm"), scene.expected());
}

TEST(StructureSetObject, TheMemoryOfEachIslandIsPlanned) {
  Tensor labels(DType::kI32, {2, 50, 60});
  auto* v = labels.as<std::int32_t>();
  EXPECT_EQ(structure_set_bytes(labels, 0), 0);
  for (std::int64_t i = 0; i < labels.count(); ++i) v[i] = static_cast<std::int32_t>((i / 60 + i % 60) % 2);
  // DCMTK keeps an item with two others in it, two UIDs, a type, a count and the points for each of 3000 islands.
  EXPECT_GT(structure_set_bytes(labels, 2), 3000 * 2400);
  for (std::int64_t i = 0; i < labels.count(); ++i) v[i] = 1;
  EXPECT_LT(structure_set_bytes(labels, 2), 128 << 10) << "100 runs of two contours";
}

TEST(StructureSetObject, NamesItsSeriesAndLeavesTheRestBehind) {
  const ObjectScene scene;
  for (const char* name : {"a.rtstruct.dcm", "b.rtstruct.dcm"})
    write_structure_set(scene.file(name), scene.labels(), SegmentTerms::builtin());
  EXPECT_TRUE(scene.bytes("a.rtstruct.dcm") == scene.bytes("b.rtstruct.dcm"));
  const StructureFile file = read_structure_file(scene.file("a.rtstruct.dcm"));
  EXPECT_EQ(file.kind, StructureKind::kContours);
  EXPECT_EQ(file.series_uid, "1.2.3.4");
  EXPECT_EQ(file.frame_of_reference_uid, "1.2.3.9");
  ASSERT_EQ(file.structures.size(), 4u);
  EXPECT_EQ(file.structures[1].name, "kidney_left");
  EXPECT_EQ(file.structures[1].type, "ORGAN");
  EXPECT_EQ(file.structures[2].drawn, 0) << "a class without a voxel";
  expect_nothing_foreign(scene, "a.rtstruct.dcm");
}

}  // namespace
}  // namespace voxshard
