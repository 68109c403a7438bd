// Robust scores of a value against the others, beside their plain definition.
#include "pipelines/tasks/segmentation/quality/leave_one_out.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "libcore/base/rng.h"

namespace voxshard {
namespace {

/// Returns the middle value, of two their mean or the upper one.
double middle(std::vector<double> values, bool upper) {
  std::sort(values.begin(), values.end());
  const std::size_t n = values.size();
  return upper ? values[n / 2] : (values[(n - 1) / 2] + values[n / 2]) / 2;
}

/// The definition: median and median absolute deviation of a copy without one value.
double plain_score(std::vector<double> values, std::size_t left_out, double floor) {
  const double value = values[left_out];
  values.erase(values.begin() + static_cast<std::ptrdiff_t>(left_out));
  const double median = middle(values, false);
  for (double& other : values) other = std::abs(other - median);
  return (value - median) / std::max(floor, 1.4826 * middle(values, true));
}

TEST(LeaveOneOut, IsItsPlainDefinition) {
  for (std::uint64_t seed = 0; seed < 60; ++seed) {
    std::vector<double> values;
    for (std::size_t i = 0; i < 9 + seed % 13; ++i) {
      const double drawn = std::floor(rng_uniform({.seed = seed, .stream = 1}, i) *
                                      (seed % 3 == 0 ? 4 : 1000));  // every third with many ties
      values.push_back(drawn);
    }
    const LeaveOneOut all(values);
    for (std::size_t i = 0; i < values.size(); ++i)
      EXPECT_DOUBLE_EQ(*all.score(values[i], 0.5), plain_score(values, i, 0.5)) << "seed " << seed << ", value " << i;
  }
}

TEST(LeaveOneOut, AWrongValueDoesNotHideItself) {
  std::vector<double> values = {10, 11, 9, 10, 12, 10, 11, 9, 400, 390, 410};
  EXPECT_GT(*LeaveOneOut(values).score(400, 1), 100);
  EXPECT_LT(std::abs(*LeaveOneOut(values).score(12, 1)), 2);
  EXPECT_EQ(LeaveOneOut(values).median_without(400), 10.5);
}

TEST(LeaveOneOut, WhatIsUsualOfAllIsWhatIsUsualBesideANewOne) {
  const std::vector<double> values = {10, 11, 9, 10, 12, 10, 11, 9, 400};
  const Usual usual = *LeaveOneOut(values).usual();
  std::vector<double> with_new = values;
  with_new.push_back(14.5);
  EXPECT_DOUBLE_EQ((14.5 - usual.median) / usual.deviation, *LeaveOneOut(with_new).score(14.5, 0));
  EXPECT_EQ(usual.median, 10);
  EXPECT_DOUBLE_EQ(usual.deviation, 1.4826);
  EXPECT_FALSE(LeaveOneOut({1, 2, 3, 4, 5, 6, 7}).usual());
}

TEST(LeaveOneOut, FewValuesJudgeNone) {
  EXPECT_FALSE(LeaveOneOut({1, 2, 3, 4, 5, 6, 7, 100}).score(100, 1).has_value());
  EXPECT_TRUE(LeaveOneOut({1, 2, 3, 4, 5, 6, 7, 8, 100}).score(100, 1).has_value());
}

}  // namespace
}  // namespace voxshard
