// The table of metrics of label maps, what each rule says of empty masks, and the masks that are cut from label maps.
#include "libcore/metrics/surface/label_metrics.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "libcore/base/error.h"

namespace voxshard {
namespace {

constexpr double kNan = std::numeric_limits<double>::quiet_NaN(), kInf = std::numeric_limits<double>::infinity();
const std::vector<std::string> kKeys = {"dice", "iou", "nsd", "hd", "hd95", "assd", "rvd", "vd"};

/// The values of all metrics of a class with these counts, in the order of kKeys; surfaces are not looked at.
std::vector<double> scores_by(const char* rule, const ClassCounts& counts) {
  std::vector<double> scores;
  for (const LabelMetric& metric : chosen_metrics(kKeys, overlap_metrics()))
    scores.push_back(metric.shown.of({.counts = counts, .voxel_mm3 = 500, .empty = find_empty_rule(rule)}));
  return scores;
}

void expect_scores(const char* rule, const ClassCounts& counts, const std::vector<double>& want) {
  const std::vector<double> found = scores_by(rule, counts);
  for (std::size_t i = 0; i < kKeys.size(); ++i)
    if (std::isnan(want[i]))
      EXPECT_TRUE(std::isnan(found[i])) << rule << " " << kKeys[i] << " is " << found[i];
    else
      EXPECT_EQ(found[i], want[i]) << rule << " " << kKeys[i];
}

TEST(EmptyRules, AClassInNeither) {
  const ClassCounts neither = {0, 0, 0, 8};
  expect_scores("nan", neither, {kNan, kNan, kNan, kNan, kNan, kNan, kNan, 0});
  expect_scores("one", neither, {1, 1, 1, 0, 0, 0, 0, 0});
  expect_scores("inf", neither, {kNan, kNan, kNan, kInf, kInf, kNan, kNan, 0});
}

TEST(EmptyRules, AClassThatIsPredictedAndNotThere) {
  const ClassCounts only_predicted = {0, 4, 0, 4};
  expect_scores("nan", only_predicted, {0, 0, 0, kNan, kNan, kNan, kNan, 2});
  expect_scores("one", only_predicted, {0, 0, 0, kNan, kNan, kNan, kNan, 2});
  expect_scores("inf", only_predicted, {0, 0, 0, kInf, kInf, kInf, kInf, 2});
}

TEST(EmptyRules, AClassThatIsMissed) {
  const ClassCounts missed = {0, 0, 4, 4};
  expect_scores("nan", missed, {0, 0, 0, kNan, kNan, kNan, -1, -2});
  expect_scores("one", missed, {0, 0, 0, kNan, kNan, kNan, -1, -2});
  expect_scores("inf", missed, {0, 0, 0, kInf, kInf, kInf, -1, -2});
}

TEST(EmptyRules, AreFoundByName) {
  EXPECT_STREQ(empty_rules().front().name, "nan");
  EXPECT_EQ(find_empty_rule("none"), nullptr);
  EXPECT_EQ(find_convention("meshes"), nullptr);
  EXPECT_STREQ(surface_conventions().front().name, "voxels");
}

TEST(LabelMetrics, AreChosenByKeyInTheOrderOfTheUser) {
  const LabelMetrics chosen = chosen_metrics({"hd95", "dice"}, overlap_metrics());
  ASSERT_EQ(chosen.size(), 2u);
  EXPECT_STREQ(chosen[0].shown.name, "HD95");
  EXPECT_TRUE(chosen[0].of_surfaces);
  EXPECT_FALSE(chosen[1].of_surfaces);
  EXPECT_TRUE(any_of_surfaces(chosen));
  const LabelMetrics usual = chosen_metrics({}, overlap_metrics());
  ASSERT_EQ(usual.size(), 2u);
  EXPECT_FALSE(any_of_surfaces(usual));
  EXPECT_EQ(rules_of(usual), rules_of(overlap_metrics()));
}

TEST(LabelMetrics, AKeyThatIsNoneOrGivenTwiceIsRefused) {
  for (const std::vector<std::string>& keys : {std::vector<std::string>{"dice", "jaccard"}, {"hd", "hd"}, {""}}) try {
      chosen_metrics(keys, overlap_metrics());
      FAIL() << keys.back();
    } catch (const Error& e) {
      EXPECT_EQ(e.kind(), ErrorKind::kUsage);
      EXPECT_THAT(e.what(), testing::HasSubstr("expected some of dice,iou,vd,rvd,nsd,hd,hd95,assd"));
    }
}

TEST(ClassMasks, AreCutToTheBoxOfBothMapsWithoutIgnoredVoxels) {
  Tensor mine(DType::kU8, {2, 3, 4}), truth(DType::kI32, {2, 3, 4});
  mine.as<std::uint8_t>()[5] = 1;                                     // (0, 1, 1)
  truth.as<std::int32_t>()[12 + 6] = 1;                               // (1, 1, 2)
  mine.as<std::uint8_t>()[23] = 1, truth.as<std::int32_t>()[23] = 9;  // (1, 2, 3): ignored
  const auto boxes = class_boxes(mine.view(), truth.view(), 3, 9);
  EXPECT_EQ(boxes[1], (Box{{0, 1, 1}, {2, 1, 2}}));
  EXPECT_TRUE(boxes[2].empty());
  EXPECT_EQ(class_mask(mine.view(), boxes[1], 1, truth.view(), 9).at, (std::vector<std::uint8_t>{1, 0, 0, 0}));
  EXPECT_EQ(class_mask(truth.view(), boxes[1], 1, truth.view(), 9).at, (std::vector<std::uint8_t>{0, 0, 0, 1}));
  EXPECT_EQ(class_boxes(mine.view(), truth.view(), 3)[1], (Box{{0, 1, 1}, {2, 2, 3}}));
  const Box all = Box::whole({2, 3, 4});
  EXPECT_EQ(class_mask(mine.view(), all, 1, truth.view(), 9).at[23], 0);
  EXPECT_EQ(class_mask(mine.view(), all, 1, truth.view()).at[23], 1);
}

TEST(ClassMasks, OtherMapsAreRefused) {
  const Tensor a(DType::kI32, {1, 2, 4}), b(DType::kI32, {1, 4, 2}), f(DType::kF32, {1, 2, 4});
  EXPECT_THROW(class_boxes(a.view(), b.view(), 2), Error);
  EXPECT_THROW(class_boxes(f.view(), a.view(), 2), Error);
}

}  // namespace
}  // namespace voxshard
