// The operating point and the confusion of a detector on scenes that are counted by hand.
#include "libcore/metrics/operating_point.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <numeric>

#include "libcore/base/rng.h"
#include "libcore/metrics/average_precision.h"

namespace voxshard {
namespace {

using testing::ElementsAre;

constexpr CocoBox kObject = {10, 10, 40, 40}, kShifted = {14, 10, 40, 40}, kElsewhere = {200, 100, 20, 20};

TrueBox object(std::int64_t image, std::int64_t category, const CocoBox& box) {
  return {.image = image, .category = category, .box = box, .area = box.area()};
}
ScoredBox found(std::int64_t image, std::int64_t category, const CocoBox& box, double score) {
  return {.image = image, .category = category, .box = box, .score = score};
}

TEST(OperatingPoint, IsWhereTheF1IsHighest) {
  // By score: 0.9 hit (F1 2/4), 0.8 false (2/5), 0.7 hit (4/6), 0.6 and 0.6 false (4/8).
  const std::vector<TrueBox> truths = {object(0, 0, kObject), object(1, 0, kObject), object(2, 1, kObject)};
  const std::vector<ScoredBox> detections = {found(0, 0, kObject, 0.9), found(0, 0, kElsewhere, 0.8),
                                             found(1, 0, kShifted, 0.7), found(2, 0, kObject, 0.6),
                                             found(2, 1, kElsewhere, 0.6)};
  const auto point = best_operating_point(truths, detections, {.images = 3, .categories = 2});
  ASSERT_TRUE(point.has_value());
  EXPECT_EQ(point->score, 0.7);
  EXPECT_EQ(point->found, 2);
  EXPECT_EQ(point->wrong, 1);
  EXPECT_EQ(point->missed, 1);
  EXPECT_DOUBLE_EQ(point->f1(), 4.0 / 6);
  EXPECT_DOUBLE_EQ(point->recall(), 2.0 / 3);
  EXPECT_DOUBLE_EQ(point->precision(), 2.0 / 3);
}

TEST(OperatingPoint, EqualScoresStandOrFallTogether) {
  const std::vector<TrueBox> truths = {object(0, 0, kObject)};
  const std::vector<ScoredBox> detections = {found(0, 0, kObject, 0.5), found(0, 0, kElsewhere, 0.5)};
  const auto point = best_operating_point(truths, detections, {.images = 1, .categories = 1});
  ASSERT_TRUE(point.has_value());
  EXPECT_EQ(point->wrong, 1) << "a score cannot part two that are equal";
}

TEST(OperatingPoint, ThereIsNoneWhereNothingIsFound) {
  EXPECT_FALSE(best_operating_point({}, {}, {.images = 1, .categories = 1}).has_value());
  const std::vector<TrueBox> truths = {object(0, 0, kObject)};
  const std::vector<ScoredBox> detections = {found(0, 0, kElsewhere, 0.5)};
  EXPECT_FALSE(best_operating_point(truths, detections, {.images = 1, .categories = 1}).has_value());
}

TEST(DetectionConfusion, HasARowForEachClassAndOneForNothing) {
  const std::vector<TrueBox> truths = {object(0, 0, kObject), object(0, 1, kElsewhere), object(1, 1, kObject)};
  const std::vector<ScoredBox> detections = {
      found(0, 0, kObject, 0.9), found(0, 0, kShifted, 0.8),      // a second one of the same object: of nothing
      found(1, 0, kShifted, 0.7), found(0, 1, kElsewhere, 0.2)};  // the wrong class; below the score
  EXPECT_THAT(detection_confusion(truths, detections, {.images = 2, .categories = 2}, 0.5),
              ElementsAre(1, 0, 0, /**/ 1, 0, 1, /**/ 1, 0, 0));
  EXPECT_THAT(detection_confusion(truths, detections, {.images = 2, .categories = 2}, 0.1),
              ElementsAre(1, 0, 0, /**/ 1, 1, 0, /**/ 1, 0, 0));
}

TEST(DetectionConfusion, AnObjectOfTheOwnClassIsTakenBeforeABetterPlacedOneOfAnother) {
  const std::vector<TrueBox> truths = {object(0, 0, kShifted), object(0, 1, kObject)};
  const std::vector<ScoredBox> detections = {found(0, 0, kObject, 0.9)};
  EXPECT_THAT(detection_confusion(truths, detections, {.images = 1, .categories = 2}, 0),
              ElementsAre(1, 0, 0, /**/ 0, 0, 1, /**/ 0, 0, 0));
}

TEST(DetectionConfusion, CrowdsAndIgnoredObjectsCountNowhere) {
  TrueBox crowd = object(0, 0, kObject), ignored = object(0, 0, kElsewhere);
  crowd.crowd = true, ignored.ignore = true;
  const std::vector<TrueBox> truths = {crowd, ignored};
  const std::vector<ScoredBox> detections = {found(0, 0, kObject, 0.9), found(0, 0, kElsewhere, 0.8)};
  EXPECT_THAT(detection_confusion(truths, detections, {.images = 1, .categories = 1}, 0), ElementsAre(0, 0, 0, 0));
}

TEST(DetectionConfusion, ItsDiagonalIsWhatTheOperatingPointFinds) {
  constexpr RngKey kKey = {.seed = 20, .stream = rng_stream("boxes")};
  std::uint64_t draw = 0;
  const auto number = [&](std::int64_t most) { return static_cast<double>(rng_below(kKey, draw++, most)); };
  for (int round = 0; round < 20; ++round) {
    std::vector<TrueBox> truths;
    std::vector<ScoredBox> detections;
    for (int i = 0; i < 12; ++i)
      truths.push_back(object(static_cast<std::int64_t>(number(3)), static_cast<std::int64_t>(number(3)),
                              {number(60), number(60), 10 + number(20), 10 + number(20)}));
    for (int i = 0; i < 40; ++i) {
      const TrueBox& near = truths[static_cast<std::size_t>(number(12))];
      detections.push_back(found(near.image, static_cast<std::int64_t>(number(3)),
                                 {near.box.x + number(6), near.box.y + number(6), near.box.width, near.box.height},
                                 number(30) / 30));
    }
    const BoxCounts counts = {.images = 3, .categories = 3};
    const auto point = best_operating_point(truths, detections, counts);
    ASSERT_TRUE(point.has_value()) << "round " << round;
    const std::vector<std::int64_t> confusion = detection_confusion(truths, detections, counts, point->score);
    EXPECT_EQ(confusion[0] + confusion[5] + confusion[10], point->found) << "round " << round;
    std::int64_t objects = 0;
    for (std::size_t i = 0; i < 12; ++i) objects += confusion[i];
    EXPECT_EQ(objects, 12) << "every object is in one cell of its row";
    std::int64_t detected = 0;
    for (const ScoredBox& one : detections) detected += one.score >= point->score;
    EXPECT_EQ(std::accumulate(confusion.begin(), confusion.end(), std::int64_t{0}),
              detected + confusion[3] + confusion[7] + confusion[11])
        << "every detection is in one cell, and every object that is missed";
    EXPECT_EQ(point->found + point->missed, 12);
  }
}

}  // namespace
}  // namespace voxshard
