// Tests of how the ranks on one host divide its processors, given the processors that the launcher bound each to.
#include "apps/ranks.h"

#include <gtest/gtest.h>

namespace voxshard {
namespace {

/// Returns the number of processors that each rank gets, indexed by rank.
std::vector<int> shares(const std::vector<Processors>& ranks) {
  std::vector<int> all;
  for (std::size_t rank = 0; rank < ranks.size(); ++rank) all.push_back(share_of_processors(ranks, rank));
  return all;
}

const std::set<int> kAll = {0, 1, 2, 3, 4, 5, 6, 7};

TEST(ShareOfProcessors, RanksThatAreNotBoundDivideTheHost) {
  EXPECT_EQ(shares({{"a", kAll}, {"a", kAll}, {"a", kAll}}), (std::vector{2, 2, 2}));
}

TEST(ShareOfProcessors, ProcessorsOfARanksOwnAreNotDividedOnceMore) {
  EXPECT_EQ(shares({{"a", {0, 1, 2, 3}}, {"a", {4, 5, 6, 7}}}), (std::vector{4, 4}));
  EXPECT_EQ(shares({{"a", {0, 1, 2, 3}}, {"a", {0, 1, 2, 3}}, {"a", {4, 5, 6}}}), (std::vector{2, 2, 3}));
}

TEST(ShareOfProcessors, OtherHostsHaveProcessorsOfTheSameNumbers) {
  EXPECT_EQ(shares({{"a", kAll}, {"b", kAll}, {"b", kAll}}), (std::vector{8, 4, 4}));
}

TEST(ShareOfProcessors, MoreRanksThanProcessorsHaveOneEach) {
  EXPECT_EQ(shares({{"a", {0, 1}}, {"a", {0, 1}}, {"a", {0, 1}}}), (std::vector{1, 1, 1}));
}

}  // namespace
}  // namespace voxshard
