// The even-odd rule on hand-made contours: counts that can be done on paper.
#include "io/structures/contour_fill.h"

#include <numbers>

#include "tests/io/structure_files.h"
#include "tests/io/test_files.h"

namespace voxshard {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using Vector = std::array<double, 3>;

/// 10 x 8 x 4 voxels of 1 x 1 x 2 mm, voxel (0, 0, 0) at the world's origin.
const Geometry kImage{.size = {10, 8, 4}, .spacing = {1, 1, 2}};

struct Filled {
  std::vector<std::int64_t> voxels;
  ContourCounts counts;
  std::vector<int> slices() const {
    std::set<int> slices;
    for (const std::int64_t v : voxels) slices.insert(static_cast<int>(v / 80));
    return {slices.begin(), slices.end()};
  }
};

Filled filled(const Geometry& image, const std::vector<Contour>& contours) {
  ContourFill fill(image, {{.number = 1, .contours = contours}}, {"Liver"}, "RS.dcm");
  Filled result;
  result.counts = fill.paint(0, [&](std::int64_t voxel) { result.voxels.push_back(voxel); });
  std::sort(result.voxels.begin(), result.voxels.end());
  EXPECT_EQ(std::adjacent_find(result.voxels.begin(), result.voxels.end()), result.voxels.end());
  return result;
}
Filled filled(const std::vector<Contour>& contours) { return filled(kImage, contours); }

/// The voxel at (x, y) of slice 0.
constexpr std::int64_t at(int x, int y) { return y * 10 + x; }

TEST(ContourFill, AVoxelBelongsWhenItsCentreIsInside) {
  EXPECT_THAT(filled({square({1.5, 1.5, 0}, 2)}).voxels, ElementsAre(at(2, 2), at(3, 2), at(2, 3), at(3, 3)));
  EXPECT_THAT(filled({square({1.6, 1.6, 0}, 0.3)}).voxels, ElementsAre()) << "between the centres";
}

TEST(ContourFill, ACentreOnAContourBelongsWhereTheInsideIsTowardsLargerIndices) {
  const Filled left = filled({square({1, 1, 0}, 2)}), right = filled({square({3, 1, 0}, 2)});
  EXPECT_THAT(left.voxels, ElementsAre(at(1, 1), at(2, 1), at(1, 2), at(2, 2)));
  EXPECT_THAT(right.voxels, ElementsAre(at(3, 1), at(4, 1), at(3, 2), at(4, 2))) << "neighbours share no voxel";
}

TEST(ContourFill, TheDirectionAndTheFirstPointOfAContourDoNotCount) {
  const Points triangle{{0.5, 0.25, 0}, {8.5, 1.25, 0}, {3.25, 6.5, 0}};
  const std::vector<std::int64_t> voxels = filled({triangle}).voxels;
  EXPECT_GT(voxels.size(), 10U);
  EXPECT_EQ(filled({Points(triangle.rbegin(), triangle.rend())}).voxels, voxels);
  EXPECT_EQ(filled({{triangle[1], triangle[2], triangle[0]}}).voxels, voxels);
  EXPECT_EQ(filled({{triangle[0], triangle[1], triangle[2], triangle[0]}}).voxels, voxels) << "closed by its text";
}

TEST(ContourFill, ARingOfTwoContoursLeavesItsHoleOut) {
  const Points outer = square({0.5, 0.5, 0}, 5);
  Points inner = square({2.5, 2.5, 0}, 1);
  EXPECT_EQ(filled({outer, inner}).voxels.size(), 24U);
  std::reverse(inner.begin(), inner.end());
  EXPECT_EQ(filled({inner, outer}).voxels.size(), 24U) << "in any direction and order";
}

TEST(ContourFill, AKeyholeContourLeavesItsHoleOut) {
  // The outer square from its corner, along a channel to the inner one, around it and back by the same channel.
  const Points keyhole{{0.5, 0.5, 0}, {2.5, 2.5, 0}, {3.5, 2.5, 0}, {3.5, 3.5, 0}, {2.5, 3.5, 0},
                       {2.5, 2.5, 0}, {0.5, 0.5, 0}, {5.5, 0.5, 0}, {5.5, 5.5, 0}, {0.5, 5.5, 0}};
  EXPECT_EQ(filled({keyhole}).voxels, filled({square({0.5, 0.5, 0}, 5), square({2.5, 2.5, 0}, 1)}).voxels);
}

TEST(ContourFill, AnIslandInAHoleAndOneBesideItAreFilled) {
  const std::vector<Contour> rings{square({0.5, 0.5, 0}, 5), square({1.5, 1.5, 0}, 3), square({2.5, 2.5, 0}, 1)};
  EXPECT_EQ(filled(rings).voxels.size(), 25U - 9U + 1U);
  EXPECT_EQ(filled({square({0.5, 0.5, 0}, 2), square({5.5, 3.5, 0}, 3)}).voxels.size(), 4U + 9U);
}

TEST(ContourFill, PlanesGoToTheNearestSliceWithinHalfAStep) {
  EXPECT_THAT(filled({square({1.5, 1.5, 2.9}, 2)}).slices(), ElementsAre(1));
  EXPECT_THAT(filled({square({1.5, 1.5, 3.1}, 2)}).slices(), ElementsAre(2));
  EXPECT_THAT(filled({square({1.5, 1.5, 3}, 2)}).slices(), ElementsAre(2)) << "halfway: the larger index";
  const Filled below = filled({square({1.5, 1.5, -1.1}, 2)}), above = filled({square({1.5, 1.5, 7}, 2)});
  EXPECT_THAT(below.voxels, ElementsAre());
  EXPECT_THAT(above.voxels, ElementsAre());
  EXPECT_EQ(below.counts.outside + above.counts.outside, 2);
}

TEST(ContourFill, OfPlanesThatAreFinerThanSlicesTheNearestCounts) {
  const Filled three = filled({square({1.5, 1.5, 1.4}, 4), square({1.5, 1.5, 2.1}, 2), square({1.5, 1.5, 2.7}, 4)});
  EXPECT_EQ(three.voxels.size(), 4U) << "and no exclusive or of all three";
  EXPECT_EQ(three.counts.between, 2);
}

TEST(ContourFill, SlicesBetweenContoursStayEmptyAndAreCounted) {
  const Filled gap = filled({square({1.5, 1.5, 0}, 2), square({1.5, 1.5, 6}, 2)});
  EXPECT_THAT(gap.slices(), ElementsAre(0, 3));
  EXPECT_EQ(gap.counts.gaps, 2);
}

TEST(ContourFill, AContourThatIsThereTwiceCountsOnce) {
  const Points first = square({1.5, 1.5, 0}, 2);
  const Points again{first[2], first[1], first[0], first[3]};
  const Filled twice = filled({first, again});
  EXPECT_EQ(twice.voxels.size(), 4U) << "two of them would cancel each other";
  EXPECT_EQ(twice.counts.doubled, 1);
}

TEST(ContourFill, ContoursBeyondTheImageAreCutAtItsBorderAndCounted) {
  const Filled cut = filled({square({7.5, -20.5, 0}, 100)});
  EXPECT_EQ(cut.voxels.size(), 2U * 8U);
  EXPECT_EQ(cut.counts.outside, 1);
  const Filled away = filled({square({50, 50, 0}, 4)});
  EXPECT_TRUE(away.voxels.empty());
  EXPECT_EQ(away.counts.outside, 1);
  EXPECT_EQ(filled({square({-0.5, -0.5, 0}, 8)}).counts.outside, 0) << "up to the border of the voxels";
}

TEST(ContourFill, PlanesThatAreNotThoseOfTheVoxelsAreRefusedAndNamed) {
  Points tilted = square({1.5, 1.5, 2}, 4);
  tilted[2][2] = tilted[3][2] = 3;
  expect_error(ErrorKind::kInput, "\"Liver\" that lies in no plane of the image's voxels: around slice 2.2", [&] {
    filled({square({1.5, 1.5, 0}, 2), tilted});
  });
  tilted[2][2] = tilted[3][2] = 2.1;
  EXPECT_EQ(filled({tilted}).voxels.size(), 16U) << "coordinates that were rounded";
}

/// An image and contours that are turned together give the same voxels.
TEST(ContourFill, AnObliqueImageWithContoursInItsPlanesIsFilledAsAnUprightOne) {
  const double c = std::cos(0.4), s = std::sin(0.4);
  Geometry turned = kImage;
  turned.origin = {12.5, -40, 7};
  turned.direction = {c, 0, s, 0, 1, 0, -s, 0, c};
  const Points upright{{0.5, 0.25, 2}, {8.5, 1.25, 2}, {3.25, 6.5, 2}};
  Points oblique;
  for (const Vector& p : upright) oblique.push_back(turned.world({p[0], p[1], p[2] / 2}));
  EXPECT_EQ(filled(turned, {oblique}).voxels, filled({upright}).voxels);
  expect_error(ErrorKind::kInput, "lies in no plane", [&] { filled(turned, {upright}); });
}

/// The same contour on the same place of the world, on images whose axes are flipped and exchanged: the left stays
/// left.
TEST(ContourFill, FlippedAndRotatedAxesKeepTheLeftOnTheLeft) {
  const Points left{{6.5, 1.5, 2}, {8.5, 1.5, 2}, {8.5, 4.5, 2}};  // x grows to the patient's left
  const auto places = [&](const Geometry& image) {
    std::set<std::array<long, 3>> world;
    for (const std::int64_t v : filled(image, {left}).voxels) {
      const std::int64_t x = v % image.size[0], y = v / image.size[0] % image.size[1],
                         z = v / (image.size[0] * image.size[1]);
      const Vector p = image.world({static_cast<double>(x), static_cast<double>(y), static_cast<double>(z)});
      world.insert({std::lround(p[0]), std::lround(p[1]), std::lround(p[2])});
    }
    return world;
  };
  const auto upright = places(kImage);
  ASSERT_EQ(upright.size(), 3U);
  for (const auto& place : upright) EXPECT_GE(place[0], 7);
  Geometry flipped = kImage;
  flipped.origin = {9, 7, 6}, flipped.direction = {-1, 0, 0, 0, -1, 0, 0, 0, -1};
  EXPECT_EQ(places(flipped), upright);
  // Index axes y, z, x of the world.
  Geometry rotated{.size = {8, 4, 10}, .spacing = {1, 2, 1}, .direction = {0, 0, 1, 1, 0, 0, 0, 1, 0}};
  EXPECT_EQ(places(rotated), upright) << "the slices are another axis of the image then";
}

/// Ray casting in patient coordinates, voxel by voxel, knows no scan lines.
bool inside(const Points& contour, double x, double y) {
  bool is_inside = false;
  for (std::size_t i = 0, j = contour.size() - 1; i < contour.size(); j = i++) {
    const auto &a = contour[i], &b = contour[j];
    if ((a[1] > y) != (b[1] > y) && x < (b[0] - a[0]) * (y - a[1]) / (b[1] - a[1]) + a[0]) is_inside = !is_inside;
  }
  return is_inside;
}

TEST(ContourFill, CurvedContoursEqualRayCastingFromEachCentre) {
  const Geometry image{.size = {40, 36, 1}, .origin = {-31.25, 12.5, 3}, .spacing = {1.1, 0.7, 2}};
  std::vector<Contour> contours;
  for (const double size : {14.0, 9.5, 4.25}) {
    Points points;
    for (int i = 0; i < 57; ++i) {
      const double angle = 2 * std::numbers::pi * i / 57, radius = size * (1 + 0.3 * std::sin(5 * angle));
      points.push_back({-8 + radius * std::cos(angle), 25 + 0.6 * radius * std::sin(angle), 3});
    }
    contours.push_back(points);
  }
  std::vector<std::int64_t> expected;
  for (std::int64_t v = 0; v < 40 * 36; ++v) {
    const Vector p = image.world({static_cast<double>(v % 40), static_cast<double>(v / 40), 0});
    int times = 0;
    for (const Contour& contour : contours) times += inside(contour, p[0], p[1]);
    if (times % 2 == 1) expected.push_back(v);
  }
  EXPECT_GT(expected.size(), 200U);
  EXPECT_EQ(filled(image, contours).voxels, expected);
}

}  // namespace
}  // namespace voxshard
