// What predicted label maps missed, and what they found in cases that have none of it.
#include "pipelines/tasks/segmentation/scores/missed_labels.h"

#include <gtest/gtest.h>

#include <limits>

#include "pipelines/tasks/segmentation/scores/label_means.h"

namespace voxshard {
namespace {

constexpr double kNone = std::numeric_limits<double>::quiet_NaN();

/// The counts of a class in a case, with its Dice and IoU: NaN where neither map has it.
ClassScores counts(std::int64_t tp, std::int64_t fp, std::int64_t fn) {
  const auto all = static_cast<double>(tp + fp + fn), both = static_cast<double>(tp);
  return {.scores = {{"Dice", all == 0 ? kNone : 2 * both / (all + both)}, {"IoU", all == 0 ? kNone : both / all}},
          .tp = tp,
          .fp = fp,
          .fn = fn,
          .tn = 9};
}

LabelScores scores_of_cases(const std::vector<ClassScores>& cord, const std::vector<ClassScores>& larynx) {
  LabelScores r;
  r.scored = {{.id = 1, .name = "Cord"}, {.id = 2, .name = "Larynx"}};
  for (std::size_t i = 0; i < cord.size(); ++i)
    r.cases.push_back({.id = std::to_string(i), .scores = {.classes = {{1, cord[i]}, {2, larynx[i]}}}});
  add_means(r);
  return r;
}

TEST(MissedLabels, WhatIsFoundWhereThereIsNoneIsNotMissed) {
  ClassScores unknown = counts(0, 7, 0);  // not annotated
  unknown.annotated = false, unknown.scores = {{"Dice", kNone}, {"IoU", kNone}};
  const LabelScores r =
      scores_of_cases({counts(3, 1, 1), counts(0, 2, 4), counts(3, 1, 1), counts(4, 0, 0), counts(4, 0, 0)},
                      {counts(4, 0, 0), counts(1, 1, 1), counts(0, 5, 0), counts(0, 0, 0), unknown});
  EXPECT_DOUBLE_EQ(r.classes[1].means[0], 0.5) << "of 1, 0.5 and 0; the fourth case says nothing";
  EXPECT_EQ(missed_labels_text(r),
            "missed: Cord: dice 0.000 in 1 of 5 cases\n"
            "found: Larynx in 1 of 2 cases without it, which count as 0; dice 0.750 in the mean of 2 cases with it\n");
}

TEST(MissedLabels, AClassThatNoCaseHasIsNotMissed) {
  EXPECT_EQ(missed_labels_text(scores_of_cases({counts(4, 0, 0)}, {counts(0, 0, 0)})), "");
  EXPECT_EQ(missed_labels_text(scores_of_cases({counts(4, 0, 0)}, {counts(0, 1, 0)})),
            "found: Larynx in 1 of 1 case without it, which count as 0\n");
}

TEST(MissedLabels, AMeanDistanceWithoutAClassThatIsMissedEverywhereSaysSo) {
  LabelScores r;
  r.rules.metrics = chosen_metrics({"hd95"}, overlap_metrics());
  r.scored = {{.id = 1, .name = "Cord"}, {.id = 2, .name = "Larynx"}};
  for (const char* id : {"a", "b"}) {
    ClassScores found = counts(3, 1, 1), missed = counts(0, 0, 5);
    found.scores = {{"HD95", 4}}, missed.scores = {{"HD95", kNone}};
    r.cases.push_back({.id = id, .scores = {.classes = {{1, found}, {2, missed}}}});
  }
  add_means(r);
  EXPECT_EQ(r.means.at(0), 4);
  EXPECT_EQ(missed_labels_text(r),
            "unscored: HD95 (mm): Larynx is in 2 cases and found in none of them: the mean leaves it out\n");
}

}  // namespace
}  // namespace voxshard
