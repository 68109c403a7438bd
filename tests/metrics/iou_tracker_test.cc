// Boxes are 10 x 10 unless said; moved by d pixels along x their IoU is (10 - d) / (10 + d): 2/3 for 2, 3/7 for 4, 1/4
// for 6.
#include "libcore/metrics/iou_tracker.h"

#include <gtest/gtest.h>

#include "libcore/base/error.h"

namespace voxshard {
namespace {

using Tracks = std::vector<std::int64_t>;

ScoredBox at(double x, double score, std::int64_t category = 0) {
  return {.image = 0, .category = category, .box = {.x = x, .y = 0, .width = 10, .height = 10}, .score = score};
}

Tracks next(IouTracker& tracker, std::vector<ScoredBox> detections) { return tracker.next(detections); }

TEST(IouTracker, NumbersStartAtOneInTheOrderOfScores) {
  IouTracker tracker({});
  EXPECT_EQ(next(tracker, {at(0, 0.5), at(100, 0.9)}), (Tracks{2, 1}));
  EXPECT_EQ(tracker.tracks(), 2);
}

TEST(IouTracker, AMovingObjectKeepsItsNumberByItsLastBox) {
  IouTracker tracker({.least_iou = 0.3});
  for (int frame = 0; frame < 10; ++frame) EXPECT_EQ(next(tracker, {at(4.0 * frame, 0.9)}), Tracks{1}) << frame;
}

TEST(IouTracker, AnOverlapBelowTheLeastStartsATrack) {
  IouTracker tracker({.least_iou = 0.3});
  EXPECT_EQ(next(tracker, {at(0, 0.9)}), Tracks{1});
  EXPECT_EQ(next(tracker, {at(6, 0.9)}), Tracks{2});  // IoU 0.25
}

TEST(IouTracker, TheLeastOverlapItselfIsEnough) {
  IouTracker tracker({.least_iou = 0.25});
  next(tracker, {at(0, 0.9)});
  EXPECT_EQ(next(tracker, {at(6, 0.9)}), Tracks{1});
}

TEST(IouTracker, TheBestDetectionChoosesFirst) {
  IouTracker tracker({});
  next(tracker, {at(0, 0.9)});
  EXPECT_EQ(next(tracker, {at(1, 0.6), at(2, 0.8)}), (Tracks{2, 1}));  // the nearer one has the lower score
}

TEST(IouTracker, ADetectionTakesTheTrackItOverlapsMost) {
  IouTracker tracker({});
  next(tracker, {at(0, 0.9), at(6, 0.8)});
  EXPECT_EQ(next(tracker, {at(5, 0.9), at(0, 0.8)}), (Tracks{2, 1}));
}

TEST(IouTracker, OfEqualOverlapsTheOlderTrackIsTaken) {
  IouTracker tracker({});
  next(tracker, {at(0, 0.9), at(4, 0.8)});
  EXPECT_EQ(next(tracker, {at(2, 0.9)}), Tracks{1});
}

TEST(IouTracker, OfEqualScoresTheEarlierDetectionGoesFirst) {
  IouTracker tracker({});
  EXPECT_EQ(next(tracker, {at(50, 0.7), at(0, 0.7)}), (Tracks{1, 2}));
}

TEST(IouTracker, ClassesDoNotShareTracks) {
  IouTracker tracker({});
  next(tracker, {at(0, 0.9, 0)});
  EXPECT_EQ(next(tracker, {at(0, 0.9, 1)}), Tracks{2});
  EXPECT_EQ(next(tracker, {at(0, 0.9, 0)}), Tracks{1});
}

TEST(IouTracker, ATrackSurvivesAsManyMissesAsAllowedAndNoMore) {
  for (const int misses : {2, 3}) {
    IouTracker tracker({.most_missed = 2});
    next(tracker, {at(0, 0.9)});
    for (int i = 0; i < misses; ++i) EXPECT_TRUE(next(tracker, {}).empty());
    EXPECT_EQ(next(tracker, {at(0, 0.9)}), (Tracks{misses == 2 ? 1 : 2})) << misses << " frames without it";
  }
}

TEST(IouTracker, MissesAreCountedAnewAfterAFind) {
  IouTracker tracker({.most_missed = 1});
  for (int i = 0; i < 4; ++i) {
    EXPECT_EQ(next(tracker, {at(0, 0.9)}), Tracks{1});
    next(tracker, {});
  }
}

TEST(IouTracker, AnUnlikelyDetectionHasNoTrackAndKeepsNoneAlive) {
  IouTracker tracker({.least_score = 0.5, .most_missed = 0});
  next(tracker, {at(0, 0.9)});
  EXPECT_EQ(next(tracker, {at(0, 0.4)}), Tracks{-1});
  EXPECT_EQ(next(tracker, {at(0, 0.9)}), Tracks{2});
}

TEST(IouTracker, TwoObjectsThatPassEachOtherStayTwo) {
  IouTracker tracker({});
  next(tracker, {at(0, 0.9), at(8, 0.8)});
  EXPECT_EQ(next(tracker, {at(2, 0.8), at(6, 0.9)}), (Tracks{1, 2}));
}

TEST(IouTracker, OptionsOutOfRangeAreRefused) {
  for (const TrackOptions& wrong :
       {TrackOptions{.least_iou = 0}, TrackOptions{.least_iou = 1.5}, TrackOptions{.most_missed = -1}}) {
    try {
      IouTracker tracker(wrong);
      ADD_FAILURE() << "no error";
    } catch (const Error& e) {
      EXPECT_EQ(e.kind(), ErrorKind::kUsage);
    }
  }
}

}  // namespace
}  // namespace voxshard
