// Tests of which rank hosts which cores and adds which addends.
#include "libcore/schedule/ranks.h"

#include <gtest/gtest.h>

namespace voxshard {
namespace {

TEST(Ranks, EachCoreIsHostedOnce) {
  for (std::int64_t cores = 1; cores <= 17; ++cores)
    for (int ranks = 1; ranks <= 5; ++ranks)
      for (std::int64_t core = 0; core < cores; ++core) {
        int hosts = 0;
        for (int r = 0; r < ranks; ++r) hosts += Ranks{r, ranks}.hosts(core, cores) ? 1 : 0;
        EXPECT_EQ(hosts, 1) << core << " of " << cores << " over " << ranks;
      }
}

/// Returns a sum with `blocks` addends on each of `cores`.
Sum sum_of(std::size_t cores, std::size_t blocks) {
  Sum sum;
  for (std::size_t core = 0; core < cores; ++core)
    for (std::size_t b = 0; b < blocks; ++b) sum.addends.push_back({core, b});
  return sum;
}

TEST(SumTree, TheSubtreesOfAllRanksAreTheAddendsInOrder) {
  for (std::size_t cores : {1u, 2u, 3u, 5u, 8u, 16u})
    for (std::size_t blocks : {1u, 3u, 4u})
      for (int ranks : {1, 2, 3, 4}) {
        const Sum sum = sum_of(cores, blocks);
        const SumTree tree(sum, {.ranks = ranks}, static_cast<std::int64_t>(cores));
        std::size_t next = 0;
        for (int r = 0; r < ranks; ++r)
          for (const SumTree::Node& node : tree.complete_subtrees(r)) {
            EXPECT_EQ(node.begin, next);
            for (std::size_t a = node.begin; a < node.end; ++a)
              EXPECT_TRUE(Ranks({r, ranks})
                              .hosts(static_cast<std::int64_t>(sum.addends[a].core), static_cast<std::int64_t>(cores)));
            next = node.end;
          }
        EXPECT_EQ(next, sum.addends.size());
      }
}

TEST(SumParts, EachElementIsAddedOnOneRankAndSmallSumsOnTheFirst) {
  for (std::int64_t elements :
       {std::int64_t{0}, std::int64_t{1}, kElementsWorthParts - 1, kElementsWorthParts, std::int64_t{10'007}})
    for (int ranks = 1; ranks <= 5; ++ranks) {
      std::int64_t next = 0;
      for (int r = 0; r < ranks; ++r) {
        const auto [begin, end] = SumParts{elements, ranks}.of(r);
        if (begin == end) continue;
        EXPECT_EQ(begin, next);
        EXPECT_TRUE(r == 0 || elements >= kElementsWorthParts) << elements;
        next = end;
      }
      EXPECT_EQ(next, elements) << ranks << " ranks";
    }
  EXPECT_EQ((SumParts{10'000, 3}.of(1)), std::pair(std::int64_t{3333}, std::int64_t{6666}))
      << "the example of the header";
}

TEST(SumTree, BuffersHoldOwnSubtotalsAndThoseOfTheOthersOfItsPart) {
  // 8 addends on 8 cores over 3 ranks (2, 3 and 3 cores): subtrees 01; 23, 4; 5, 67.
  const Sum sum = sum_of(8, 1);
  const std::int64_t n = kElementsWorthParts * 3;
  const SumTree tree(sum, {.ranks = 3}, 8);
  EXPECT_EQ(tree.complete_subtrees(0).size(), 1u);
  EXPECT_EQ(tree.complete_subtrees(1).size(), 2u) << "23 and 4";
  EXPECT_EQ(tree.complete_subtrees(2).size(), 2u) << "5 and 67";
  const MessageBytes middle = reduction_bytes(tree, n, 4, {.rank = 1, .ranks = 3});
  EXPECT_EQ(middle.outgoing, 2 * n * 4);
  EXPECT_EQ(middle.incoming, 3 * n / 3 * 4);
  EXPECT_EQ(reduction_bytes(tree, 16, 8, {.rank = 2, .ranks = 3}).incoming, 0) << "rank 0 adds small sums";
}

TEST(SumTree, OneRankAddsTheWholeTree) {
  const SumTree tree(sum_of(4, 2), {}, 4);
  ASSERT_EQ(tree.complete_subtrees(0).size(), 1u);
  EXPECT_EQ(tree.complete_subtrees(0)[0], tree.root());
}

TEST(SumTree, TheExampleOfTheHeader) {
  const SumTree tree(sum_of(5, 1), {.ranks = 2}, 5);
  const auto [left, right] = tree.root().halves();
  EXPECT_EQ(left, (SumTree::Node{0, 3}));
  EXPECT_EQ(right, (SumTree::Node{3, 5}));
}

}  // namespace
}  // namespace voxshard
