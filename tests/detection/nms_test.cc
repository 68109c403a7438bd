// Non-maximum suppression and the ways to choose candidates, by hand.
#include "libcore/detection/nms.h"

#include <gtest/gtest.h>

#include <cmath>

namespace voxshard {
namespace {

BoxCandidate at(std::int64_t anchor, std::int64_t class_id, double score, double x, double width = 10) {
  return {anchor, class_id, score, {0, x, 10, x + width}};
}

std::vector<double> scores_of(const std::vector<Detection>& found) {
  std::vector<double> scores;
  for (const Detection& d : found) scores.push_back(d.score);
  return scores;
}

using Scores = std::vector<double>;

TEST(Nms, ABoxThatOverlapsABetterOneOfItsClassByMoreIsDropped) {
  // [0, 10) and [2, 12): IoU 8 / 12 = 0.67; [0, 10) and [4, 14): 6 / 14 = 0.43.
  const std::vector<BoxCandidate> all = {at(0, 1, 0.6, 4), at(1, 1, 0.9, 0), at(2, 1, 0.8, 2), at(3, 2, 0.7, 1)};
  EXPECT_EQ(scores_of(detect(all, {})), (Scores{0.9, 0.7, 0.6}));
  EXPECT_EQ(scores_of(detect(all, {.iou_threshold = 0.4})), (Scores{0.9, 0.7}));
  EXPECT_EQ(scores_of(detect(all, {.iou_threshold = 0.7})), (Scores{0.9, 0.8, 0.7, 0.6}));
}

TEST(Nms, AnOverlapOfTheThresholdIsKept) {
  EXPECT_EQ(detect({at(0, 1, 0.9, 0, 10), at(1, 1, 0.8, 0, 5)}, {.iou_threshold = 0.5}).size(), 2u);
}

TEST(Nms, ADroppedBoxDropsNoOther) {
  // The third overlaps the second (dropped) but not the first.
  EXPECT_EQ(scores_of(detect({at(0, 1, 0.9, 0), at(1, 1, 0.8, 3), at(2, 1, 0.7, 6)}, {.iou_threshold = 0.5})),
            (Scores{0.9, 0.7}));
}

TEST(Nms, LikelyBoxesAroundAFoundOneVoteOnItsSidesByTheirScores) {
  // Overlaps with [0, 10): [2, 12) 8 / 12 = 0.67, [4, 14) 6 / 14 = 0.43; the last one is of another class.
  const std::vector<BoxCandidate> all = {at(0, 1, 0.6, 0), at(1, 1, 0.3, 2), at(2, 1, 0.2, 4), at(3, 2, 0.5, 1)};
  const auto found = detect(all, {.iou_threshold = 0.4, .vote_iou = 0.6});
  ASSERT_EQ(scores_of(found), (Scores{0.6, 0.5}));
  EXPECT_NEAR(found[0].box.x0, (0.6 * 0 + 0.3 * 2) / 0.9, 1e-12);
  EXPECT_NEAR(found[0].box.x1, (0.6 * 10 + 0.3 * 12) / 0.9, 1e-12);
  EXPECT_NEAR(found[0].box.y1, 10, 1e-12);
  EXPECT_NEAR(found[1].box.x0, 1, 1e-12);
  EXPECT_EQ(detect(all, {.iou_threshold = 0.4})[0].box, (PixelBox{0, 0, 10, 10})) << "without votes";
}

TEST(Nms, ABoxThatNoOtherVotesOnStaysToTheBit) {
  const PixelBox box{0.1, 0.3, 639.7, 640};
  for (const double score : {0.051, 0.3, 0.7, 0.999}) {
    const auto found = detect({{0, 1, score, box}, {1, 1, score / 2, box}}, {.vote_iou = 0.7});
    ASSERT_EQ(found.size(), 1u);
    EXPECT_EQ(found[0].box, box);
  }
}

TEST(Nms, AnOverlapOfTheLeastVotes) {
  const auto found = detect({at(0, 1, 0.8, 0, 10), at(1, 1, 0.8, 0, 5)}, {.iou_threshold = 0.4, .vote_iou = 0.5});
  ASSERT_EQ(found.size(), 1u);
  EXPECT_NEAR(found[0].box.x1, 7.5, 1e-12);
}

TEST(Nms, TheBestOfAllClassesAreFound) {
  std::vector<BoxCandidate> all;
  for (int i = 0; i < 8; ++i) all.push_back(at(i, i % 3, 0.1 * (i + 1), 20 * i));
  const auto found = detect(all, {.most_detections = 3});
  EXPECT_EQ(scores_of(found), (Scores{0.8, 0.7000000000000001, 0.6000000000000001}));
}

TEST(Nms, EqualScoresGoByClassThenAnchor) {
  const auto found = detect({at(9, 2, 0.5, 0), at(7, 1, 0.5, 40), at(3, 1, 0.5, 80)}, {.most_detections = 2});
  ASSERT_EQ(found.size(), 2u);
  EXPECT_EQ(found[0].class_id, 1);
  EXPECT_EQ(found[0].box.x0, 80);
  EXPECT_EQ(found[1].box.x0, 40);
}

TEST(Nms, CandidatesAreCountedPerClassOrOverAll) {
  const std::vector<BoxCandidate> all = {at(0, 1, 0.9, 0), at(1, 1, 0.8, 20), at(2, 2, 0.7, 40), at(3, 2, 0.6, 60)};
  EXPECT_EQ(scores_of(detect(all, {.per_class = true, .most_candidates = 1})), (Scores{0.9, 0.7}));
  EXPECT_EQ(scores_of(detect(all, {.per_class = false, .most_candidates = 2})), (Scores{0.9, 0.8}));
}

/// A level of 1 x 2 cells, one anchor of 8 x 8 each, 3 classes.
struct Level {
  AnchorLevel anchors{.level = 3, .stride = 8, .height = 1, .width = 2, .first = 100, .halves = {{4, 4}}};
  Tensor logits{DType::kF32, {1, 1, 2, 3}}, boxes{DType::kF32, {1, 1, 2, 4}};

  Level() {
    const float x[] = {3, 0, -2, -9, 1, -9};
    std::copy(x, x + 6, logits.as<float>());
    boxes.as<float>()[4] = 0.5F;            // half an anchor lower
    boxes.as<float>()[7] = std::log(0.5F);  // half as wide
  }
  std::vector<BoxCandidate> candidates(const PostprocessOptions& options, const Dims& size = {8, 16}) const {
    std::vector<BoxCandidate> all;
    append_candidates(logits.view(), boxes.view(), 0, anchors, size, options, all);
    return all;
  }
};

double sigmoid(double x) { return 1 / (1 + std::exp(-x)); }

TEST(Candidates, AreTheScoresAboveTheThresholdWithoutBackground) {
  const auto all = Level().candidates({});
  ASSERT_EQ(all.size(), 3u);
  EXPECT_EQ(all[0].class_id, 1);
  EXPECT_NEAR(all[0].score, 0.5, 1e-12);
  EXPECT_EQ(all[0].anchor, 100);
  EXPECT_EQ(all[1].class_id, 2);
  EXPECT_NEAR(all[1].score, sigmoid(-2), 1e-7);
  EXPECT_EQ(all[2].anchor, 101);
  EXPECT_NEAR(all[2].score, sigmoid(1), 1e-7);
  EXPECT_EQ(Level().candidates({.background = false}).size(), 4u);
  EXPECT_EQ(Level().candidates({.score_threshold = 0.5}).size(), 1u) << "a score must be above the threshold";
}

TEST(Candidates, BoxesAreDecodedAndCutToTheImage) {
  const auto all = Level().candidates({});
  EXPECT_EQ(all[0].box, (PixelBox{0, 0, 8, 8}));
  EXPECT_NEAR(all[2].box.y0, 4, 1e-6);
  EXPECT_NEAR(all[2].box.y1, 8, 1e-6) << "cut from 12";
  EXPECT_NEAR(all[2].box.x0, 10, 1e-6);
  EXPECT_NEAR(all[2].box.x1, 14, 1e-6);
  EXPECT_EQ(Level().candidates({}, {4, 16}).size(), 2u) << "a box outside of the image is none";
}

TEST(Candidates, SoftmaxSharesOneAmongTheClassesOfAnAnchor) {
  const auto all = Level().candidates({.softmax = true, .background = false, .score_threshold = 0});
  ASSERT_EQ(all.size(), 6u);
  const double total = std::exp(3.0) + 1 + std::exp(-2.0);
  EXPECT_NEAR(all[0].score, std::exp(3.0) / total, 1e-7);
  EXPECT_NEAR(all[0].score + all[1].score + all[2].score, 1, 1e-12);
}

TEST(Candidates, PartsOfALevelGiveWhatTheWholeGives) {
  const Level level;
  std::vector<BoxCandidate> parts;
  for (std::int64_t x : {1, 0}) {
    Box cell = Box::whole(level.logits.shape());
    cell.set(2, x, x + 1);
    append_candidates(level.logits.view().sub(cell), level.boxes.view(), 0, level.anchors, {8, 16}, {}, parts);
  }
  EXPECT_EQ(detect(parts, {}), detect(level.candidates({}), {}));
}

TEST(Postprocess, TheVariantsAreThoseOfTheOriginal) {
  const PostprocessOptions b = detection_postprocess(), evaluation = legacy_evaluation_postprocess(),
                           exported = legacy_export_postprocess();
  EXPECT_TRUE(b.background && b.per_class && !b.softmax);
  EXPECT_EQ(b.most_candidates, 5000);
  EXPECT_EQ(b.score_threshold, 0.05);
  EXPECT_EQ(b.iou_threshold, 0.5);
  EXPECT_TRUE(!evaluation.background && !evaluation.per_class && !evaluation.softmax);
  EXPECT_EQ(evaluation.most_candidates, 5000);
  EXPECT_EQ(evaluation.score_threshold, 0);
  EXPECT_EQ(evaluation.iou_threshold, 0.5);
  EXPECT_TRUE(!exported.background && !exported.per_class && exported.softmax);
  EXPECT_EQ(exported.most_candidates, 1000);
  EXPECT_EQ(exported.score_threshold, 0.05);
  EXPECT_EQ(exported.iou_threshold, 0.3);
  for (const auto& options : {b, evaluation, exported}) EXPECT_EQ(options.most_detections, 100);
}

TEST(Nms, WhatIsDroppedWhileCandidatesAreFoundWouldNotHaveBeenLookedAt) {
  const auto levels = anchor_levels({64, 64}, {});
  Tensor logits(DType::kF32, {1, 8, 8, 18}), boxes(DType::kF32, {1, 8, 8, 36});
  for (std::int64_t i = 0; i < logits.count(); ++i)
    logits.as<float>()[i] = static_cast<float>((i * 37) % 1151) / 200.0F - 3;
  PostprocessOptions options = legacy_evaluation_postprocess();
  std::vector<BoxCandidate> all;
  append_candidates(logits.view(), boxes.view(), 0, levels[0], {64, 64}, options, all);
  ASSERT_EQ(all.size(), 8u * 8 * 18) << "fewer than are counted: nothing is dropped";
  options.most_candidates = 20;
  std::vector<BoxCandidate> bounded;
  append_candidates(logits.view(), boxes.view(), 0, levels[0], {64, 64}, options, bounded);
  EXPECT_LT(bounded.size(), 2u * 20 + 2);
  EXPECT_EQ(detect(bounded, options), detect(all, options));
}

}  // namespace
}  // namespace voxshard
