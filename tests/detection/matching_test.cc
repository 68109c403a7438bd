// Matching by hand: thresholds, ties, the anchor that each object gets whatever it overlaps; and targets of an image.
#include "libcore/detection/matching.h"

#include <gtest/gtest.h>

#include <limits>

namespace voxshard {
namespace {

/// Returns a row of `cells` of 8 pixels with one square anchor of 8 pixels each, so that IoU can be read off.
AnchorLevel row_of_cells(std::int64_t cells) {
  return {.level = 3, .stride = 8, .height = 1, .width = cells, .first = 0, .halves = {{4, 4}}};
}

using Match = std::vector<std::int32_t>;

Match match(const std::vector<AnchorLevel>& levels, const std::vector<ObjectBox>& objects,
            const MatchOptions& options = {}) {
  return match_anchors(levels, objects, options);
}

TEST(Matching, AnObjectGoesToEveryAnchorThatOverlapsItByHalf) {
  // Columns [0, 16) of 8 rows: each of two anchors is half of the object, the third does not overlap.
  EXPECT_EQ(match({row_of_cells(3)}, {{.box = {0, 0, 8, 16}}}), (Match{0, 0, -1}));
  // [0, 17): 64 / 136 is less than half; only the best anchor has it, which is the first of equals.
  EXPECT_EQ(match({row_of_cells(3)}, {{.box = {0, 0, 8, 17}}}), (Match{0, -1, -1}));
}

TEST(Matching, WithoutForceAnObjectMayHaveNoAnchor) {
  EXPECT_EQ(match({row_of_cells(3)}, {{.box = {0, 0, 8, 17}}}, {.force = false}), (Match{-1, -1, -1}));
}

TEST(Matching, BetweenTheThresholdsAnAnchorIsIgnored) {
  // [0, 14): IoU 64 / 112 = 0.57 and 48 / 128 = 0.375.
  EXPECT_EQ(match({row_of_cells(3)}, {{.box = {0, 0, 8, 14}}}, {.matched = 0.5, .unmatched = 0.3}), (Match{0, -2, -1}));
  EXPECT_EQ(match({row_of_cells(3)}, {{.box = {0, 0, 8, 14}}}, {.matched = 0.6, .unmatched = 0.3, .force = false}),
            (Match{-2, -2, -1}));
}

TEST(Matching, AnAnchorLearnsTheObjectThatItOverlapsMost) {
  EXPECT_EQ(match({row_of_cells(1)}, {{.box = {0, 0, 8, 6}}, {.box = {0, 0, 8, 7}}}, {.force = false}), (Match{1}));
  EXPECT_EQ(match({row_of_cells(1)}, {{.box = {0, 0, 8, 7}}, {.box = {0, 1, 8, 8}}}, {.force = false}), (Match{0}))
      << "a tie goes to the first";
}

TEST(Matching, TheFirstOfTheObjectsThatWantAnAnchorGetsIt) {
  // The anchor overlaps the second more, but is the best of both.
  EXPECT_EQ(match({row_of_cells(1)}, {{.box = {0, 0, 8, 6}}, {.box = {0, 0, 8, 7}}}), (Match{0}));
}

TEST(Matching, ForceTakesAnAnchorFromTheObjectThatItOverlapsMore) {
  // The small object's best anchor is the first, which overlaps the large one by 0.75; the large one keeps the second.
  const std::vector<ObjectBox> objects = {{.box = {0, 0, 1, 1}}, {.box = {0, 0, 8, 15}}};
  EXPECT_EQ(match({row_of_cells(2)}, objects, {.force = false}), (Match{1, -1}));
  EXPECT_EQ(match({row_of_cells(2)}, objects), (Match{0, -1}));
}

TEST(Matching, TheBestAnchorOfEqualsIsTheLowestNumber) {
  AnchorLevel level = row_of_cells(2);
  level.halves = {{2, 2}, {4, 4}, {4, 4}};  // numbers 1 and 2 of the first cell are alike
  EXPECT_EQ(match({level}, {{.box = {0, 0, 8, 8}}}, {.matched = 1.1, .unmatched = 1.1}),
            (Match{-1, 0, -1, -1, -1, -1}));
}

TEST(Matching, ObjectsWithoutAreaOrFarAwayAreLeftOut) {
  constexpr double kNan = std::numeric_limits<double>::quiet_NaN(), kFar = std::numeric_limits<double>::infinity();
  for (const PixelBox& box : {PixelBox{2, 2, 2, 6}, PixelBox{6, 6, 2, 2}, PixelBox{100, 100, 120, 120},
                              PixelBox{0, 0, kNan, 4}, PixelBox{-kFar, -kFar, kFar, kFar}})
    EXPECT_EQ(match({row_of_cells(2)}, {{.box = box}}), (Match{-1, -1})) << box.y0 << " " << box.y1;
}

TEST(Matching, EqualsTheSlowWay) {
  const auto levels = anchor_levels({150, 100}, {});
  const std::vector<ObjectBox> objects = {{.box = {3, 5, 60, 44}},
                                          {.box = {20, 10, 49, 39}},
                                          {.box = {100, 2, 148, 99}},
                                          {.box = {70.5, 60.25, 79, 66}},
                                          {.box = {-10, -10, 30, 30}}};
  const Match fast = match(levels, objects);
  Match slow;
  std::vector<double> widest(objects.size(), 0);
  std::vector<std::size_t> best(objects.size(), 0);
  for (const AnchorLevel& level : levels)
    for (std::int64_t y = 0; y < level.height; ++y)
      for (std::int64_t x = 0; x < level.width; ++x)
        for (std::int64_t a = 0; a < level.per_cell(); ++a) {
          double most = 0;
          slow.push_back(-1);
          for (std::size_t o = 0; o < objects.size(); ++o) {
            const double overlap = iou(level.box(y, x, a), objects[o].box);
            if (overlap > most) {
              most = overlap;
              slow.back() = overlap >= 0.5 ? static_cast<int>(o) : -1;
            }
            if (overlap > widest[o]) widest[o] = overlap, best[o] = slow.size() - 1;
          }
        }
  for (std::size_t o = objects.size(); o-- > 0;) slow[best[o]] = static_cast<int>(o);
  EXPECT_EQ(fast, slow);
}

TEST(Targets, HoldClassesAndCodesOfTheAnchorsThatHaveAnObject) {
  const auto levels = anchor_levels({128, 192}, {});
  const std::vector<ObjectBox> objects = {{.box = {20, 28, 52, 60}, .class_id = 7},
                                          {.box = {60, 80, 124, 176}, .class_id = 2}};
  const Match matched = match(levels, objects);
  const ImageTargets targets = detection_targets(levels, objects);
  ASSERT_EQ(targets.levels.size(), 5u);
  std::int64_t positives = 0;
  for (std::size_t l = 0; l < 5; ++l) {
    const AnchorLevel& level = levels[l];
    const auto* classes = targets.levels[l].classes.as<std::int32_t>();
    const auto* codes = targets.levels[l].boxes.as<float>();
    EXPECT_EQ(targets.levels[l].classes.shape(), (Shape{1, level.height, level.width, 9}));
    EXPECT_EQ(targets.levels[l].boxes.shape(), (Shape{1, level.height, level.width, 36}));
    for (std::int64_t y = 0; y < level.height; ++y)
      for (std::int64_t x = 0; x < level.width; ++x)
        for (std::int64_t a = 0; a < 9; ++a) {
          const std::int64_t i = level.number(y, x, a) - level.first;
          const std::int32_t object = matched[level.first + i];
          if (object < 0) {
            ASSERT_EQ(classes[i], -1);
            for (int k = 0; k < 4; ++k) ASSERT_EQ(codes[4 * i + k], 0);
            continue;
          }
          ++positives;
          ASSERT_EQ(classes[i], objects[object].class_id);
          const BoxCode code{codes[4 * i], codes[4 * i + 1], codes[4 * i + 2], codes[4 * i + 3]};
          const PixelBox back = decode(code, level.box(y, x, a)), &box = objects[object].box;
          ASSERT_NEAR(back.y0, box.y0, 1e-4);
          ASSERT_NEAR(back.x1, box.x1, 1e-4);
        }
  }
  EXPECT_GE(positives, 2);
  EXPECT_EQ(targets.positives, positives);
}

TEST(Targets, AnImageWithoutObjectsHasNone) {
  const ImageTargets targets = detection_targets(anchor_levels({64, 64}, {}), {});
  EXPECT_EQ(targets.positives, 0);
  for (const LevelTargets& level : targets.levels)
    for (std::int64_t i = 0; i < level.classes.count(); ++i) EXPECT_EQ(level.classes.as<std::int32_t>()[i], kNoObject);
}

}  // namespace
}  // namespace voxshard
