// COCO's numbers of scenes small enough to be worked out by hand.
#include "libcore/metrics/average_precision.h"

#include <gtest/gtest.h>

namespace voxshard {
namespace {

constexpr CocoBox kBox = {10, 10, 40, 40};  // 1600 px^2: medium

TrueBox truth(std::int64_t image, const CocoBox& box) { return {.image = image, .box = box, .area = box.area()}; }
ScoredBox found(std::int64_t image, const CocoBox& box, double score) {
  return {.image = image, .box = box, .score = score};
}

CocoSummary numbers(const std::vector<TrueBox>& truths, const std::vector<ScoredBox>& detections,
                    std::int64_t images = 4, std::int64_t categories = 1) {
  return average_precision(truths, detections, {.images = images, .categories = categories}).summary();
}

enum Number { kAp, kAp50, kAp75, kApSmall, kApMedium, kApLarge, kAr1, kAr10, kAr100, kArSmall, kArMedium, kArLarge };

TEST(AveragePrecision, EveryObjectFoundExactlyScoresOneAndAbsentSizesMinusOne) {
  const CocoSummary s = numbers({truth(0, kBox), truth(1, kBox)}, {found(0, kBox, 0.9), found(1, kBox, 0.3)});
  for (const Number n : {kAp, kAp50, kAp75, kApMedium, kAr1, kAr10, kAr100, kArMedium}) EXPECT_NEAR(s[n], 1, 1e-9) << n;
  for (const Number n : {kApSmall, kApLarge, kArSmall, kArLarge}) EXPECT_EQ(s[n], -1) << n;
}

TEST(AveragePrecision, HalfOfTheObjectsFoundFills51Of101RecallPoints) {
  const CocoSummary s = numbers({truth(0, kBox), truth(1, kBox)}, {found(0, kBox, 0.9)});
  EXPECT_NEAR(s[kAp], 51.0 / 101, 1e-9);
  EXPECT_DOUBLE_EQ(s[kAr100], 0.5);
}

TEST(AveragePrecision, AnOverlapOfExactlyTheThresholdIsEnough) {
  // 40 x 40 and its left half: IoU .5, one of ten thresholds.
  const CocoSummary s = numbers({truth(0, kBox)}, {found(0, {10, 10, 20, 40}, 0.9)});
  EXPECT_NEAR(s[kAp50], 1, 1e-9);
  EXPECT_NEAR(s[kAp], 0.1, 1e-9);
  EXPECT_NEAR(s[kAr100], 0.1, 1e-9);
}

TEST(AveragePrecision, ASecondDetectionOfAnObjectIsWrong) {
  // Best first: hit, wrong, hit; the precision at recall 1 is 2/3.
  const CocoSummary s =
      numbers({truth(0, kBox), truth(1, kBox)}, {found(0, kBox, 0.9), found(0, kBox, 0.8), found(1, kBox, 0.7)});
  EXPECT_NEAR(s[kAp], (51 + 50 * 2.0 / 3) / 101, 1e-9);
}

TEST(AveragePrecision, OfEqualScoresTheEarlierGoesFirst) {
  const CocoBox elsewhere = {200, 200, 40, 40};
  EXPECT_NEAR(numbers({truth(0, kBox)}, {found(0, elsewhere, 0.5), found(0, kBox, 0.5)})[kAp], 0.5, 1e-9);
  EXPECT_NEAR(numbers({truth(0, kBox)}, {found(0, kBox, 0.5), found(0, elsewhere, 0.5)})[kAp], 1, 1e-9);
}

TEST(AveragePrecision, WhatLiesInACrowdNeitherHelpsNorHarms) {
  std::vector<TrueBox> truths = {truth(0, kBox), truth(0, {100, 100, 100, 100})};
  truths[1].crowd = true;
  std::vector<ScoredBox> detections = {found(0, kBox, 0.5)};
  for (int i = 0; i < 5; ++i) detections.push_back(found(0, {110.0 + 10 * i, 120, 30, 30}, 0.9));
  EXPECT_NEAR(numbers(truths, detections)[kAp], 1, 1e-9);
  truths[1].crowd = false;  // now five wrong ones come first, and one of two objects is found
  EXPECT_NEAR(numbers(truths, detections)[kAp], 51.0 / 101 / 6, 1e-9);
}

TEST(AveragePrecision, TheOverlapWithACrowdIsThePartOfTheDetection) {
  EXPECT_DOUBLE_EQ(coco_iou({0, 0, 10, 10}, {5, 0, 100, 100}, true), 0.5);
  EXPECT_DOUBLE_EQ(coco_iou({0, 0, 10, 10}, {5, 0, 100, 100}, false), 50.0 / (100 + 10000 - 50));
  EXPECT_EQ(coco_iou({0, 0, 10, 10}, {10, 0, 10, 10}, false), 0);
}

TEST(AveragePrecision, AnIgnoredObjectTakesOneDetection) {
  std::vector<TrueBox> truths = {truth(0, kBox), truth(1, kBox)};
  truths[1].ignore = true;
  EXPECT_NEAR(numbers(truths, {found(1, kBox, 0.9), found(0, kBox, 0.5)})[kAp], 1, 1e-9);
  const CocoSummary twice = numbers(truths, {found(1, kBox, 0.9), found(1, kBox, 0.8), found(0, kBox, 0.5)});
  EXPECT_NEAR(twice[kAp], 0.5, 1e-9);  // the second on it is wrong
}

TEST(AveragePrecision, AnObjectThatCountsGoesBeforeAnIgnoredOneThatOverlapsMore) {
  std::vector<TrueBox> truths = {truth(0, kBox), truth(0, {10, 10, 40, 36})};
  truths[0].ignore = true;
  EXPECT_NEAR(numbers(truths, {found(0, kBox, 0.9)})[kAr100], 0.9, 1e-9);  // IoU .9: all thresholds but .95
}

TEST(AveragePrecision, OnlyTheBestDetectionsOfAnImageCount) {
  std::vector<TrueBox> truths;
  std::vector<ScoredBox> detections;
  for (int i = 0; i < 12; ++i) {
    const CocoBox box = {60.0 * i, 10, 40, 40};
    truths.push_back(truth(0, box));
    detections.push_back(found(0, box, 1 - 0.01 * i));
  }
  const CocoSummary s = numbers(truths, detections);
  EXPECT_NEAR(s[kAr1], 1.0 / 12, 1e-9);
  EXPECT_NEAR(s[kAr10], 10.0 / 12, 1e-9);
  EXPECT_NEAR(s[kAr100], 1, 1e-9);
}

TEST(AveragePrecision, AnAreaOnALimitBelongsToBothSizes) {
  const CocoBox box = {0, 0, 32, 32};
  const CocoSummary s = numbers({truth(0, box)}, {found(0, box, 0.5)});
  EXPECT_NEAR(s[kApSmall], 1, 1e-9);
  EXPECT_NEAR(s[kApMedium], 1, 1e-9);
  EXPECT_EQ(s[kApLarge], -1);
}

TEST(AveragePrecision, AWrongDetectionOfAnotherSizeDoesNotHarmASize) {
  const CocoBox large = {100, 100, 200, 200};
  const CocoSummary s = numbers({truth(0, kBox)}, {found(0, large, 0.9), found(0, kBox, 0.5)});
  EXPECT_NEAR(s[kApMedium], 1, 1e-9);
  EXPECT_NEAR(s[kAp], 0.5, 1e-9);
}

TEST(AveragePrecision, AClassWithoutObjectsIsLeftOutOfTheMean) {
  const CocoSummary s =
      numbers({truth(0, kBox)}, {found(0, kBox, 0.5), {.category = 1, .box = kBox, .score = 0.9}}, 4, 2);
  EXPECT_NEAR(s[kAp], 1, 1e-9);
  EXPECT_EQ(numbers({}, {found(0, kBox, 0.5)})[kAp], -1);
}

TEST(AveragePrecision, NoDetectionScoresZero) {
  const CocoSummary s = numbers({truth(0, kBox)}, {});
  EXPECT_EQ(s[kAp], 0);
  EXPECT_EQ(s[kAr100], 0);
}

TEST(AveragePrecision, TheSummaryOfAClassIsThatOfTheClassAlone) {
  std::vector<TrueBox> truths = {truth(0, kBox), truth(1, kBox)};
  truths[1].category = 1;
  const auto s = average_precision(truths, std::vector<ScoredBox>{found(0, kBox, 0.5)}, {.images = 2, .categories = 2});
  EXPECT_NEAR(s.summary_of(0)[kAp], 1, 1e-9);
  EXPECT_EQ(s.summary_of(1)[kAp], 0);
  EXPECT_NEAR(s.summary()[kAp], 0.5, 1e-9);
}

TEST(AveragePrecision, ThresholdsAreThoseOfNumpy) {
  const CocoOptions options;
  EXPECT_EQ(options.iou_thresholds.size(), 10u);
  EXPECT_EQ(options.iou_thresholds[5], 0.75);  // summary() needs these two
  EXPECT_EQ(options.iou_thresholds[0], 0.5);
  EXPECT_EQ(options.recall_points[57], 0.5700000000000001);
  EXPECT_EQ(options.recall_points.back(), 1.0);
}

}  // namespace
}  // namespace voxshard
