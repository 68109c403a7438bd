// Coarser grids where slabs become thin: candidates of their own, only where they differ from the plain grid.
#include <map>

#include "tests/planner/planner_scene.h"

namespace voxshard {
namespace {

using namespace test;

/// Returns the candidates for 64 x 16 x 16 planes; over 8 cores along D a core has 8, 4 and at the third level 2 of
/// them.
std::vector<Candidate> deep_candidates(std::vector<std::int64_t> thinnest_slabs = {0, 4}) {
  PlanProblem problem = scene_problem({1, 64, 16, 16}, 8, {.base_filters = 2, .depth = 3});
  problem.recompute = {Recompute::kNone};
  problem.thinnest_slabs = std::move(thinnest_slabs);
  return priced(problem, quick_device());
}

Candidate find(const std::vector<Candidate>& all, const Dims& partition, std::int64_t thinnest_slab) {
  for (const Candidate& c : all)
    if (c.cut.mesh.partition == partition && c.cut.thinnest_slab == thinnest_slab) return c;
  ADD_FAILURE() << "no candidate of " << to_string(partition) << " with slabs of " << thinnest_slab;
  return {};
}

TEST(Slabs, AMergedGridIsACandidateExactlyWhereSomeLevelIsThinner) {
  const Dims extents{1, 64, 16, 16};
  const auto all = deep_candidates();
  std::map<std::string, std::int64_t> merged;
  for (const Candidate& c : all) merged[to_string(c.cut.mesh.partition)] += c.cut.thinnest_slab == 4 ? 1 : 0;
  EXPECT_EQ(merged.size(), 20u);
  int thick = 0;
  for (const auto& [partition, count] : merged) {
    const Dims parts = parse_partition(partition, 5);
    bool thin = false;
    for (int a = 1; a <= 3; ++a) thin = thin || (parts[a] > 1 && extents[a] / parts[a] / 4 < 4);  // two poolings
    EXPECT_EQ(count, thin ? 1 : 0) << partition;
    thick += thin ? 0 : 1;
  }
  EXPECT_EQ(thick, 3) << "1, 2 and 4 cores along D";
}

TEST(Slabs, MergedPartsAreAsThickAsAskedAndTheirOtherCoresIdle) {
  const auto all = deep_candidates();
  const Candidate plain = find(all, {1, 8, 1, 1, 1}, 0), merged = find(all, {1, 8, 1, 1, 1}, 4);
  EXPECT_EQ(plain.thinnest_planes, 2);
  EXPECT_EQ(plain.thinnest_layer, "encoder2/pool");
  EXPECT_EQ(plain.idle_cores, 0);
  EXPECT_EQ(merged.thinnest_planes, 4);
  EXPECT_EQ(merged.thinnest_layer, "encoder1/pool") << "the first that is as thin";
  EXPECT_EQ(merged.idle_cores, 4);
  EXPECT_LT(merged.messages, plain.messages);
  // 16 planes over 2: 8, 4, and then 2 each, all of which go to one core.
  EXPECT_EQ(find(all, {1, 1, 2, 1, 1}, 4).idle_cores, 1);
  EXPECT_EQ(find(all, {1, 1, 2, 1, 1}, 4).thinnest_planes, 4);
}

TEST(Slabs, EveryMergedCandidateIdlesCores) {
  int merged = 0;
  for (const Candidate& c : deep_candidates({0, 2, 4, 8}))
    if (c.cut.thinnest_slab > 0) {
      ++merged;
      EXPECT_GT(c.idle_cores, 0) << text_of(c);
    }
  EXPECT_GT(merged, 20);
}

TEST(Slabs, AnUncutCandidateHasNoThinnestLayer) {
  const Candidate uncut = find(deep_candidates(), {1, 1, 1, 1, 1}, 0);
  EXPECT_EQ(uncut.thinnest_planes, 0);
  EXPECT_EQ(uncut.thinnest_layer, "");
  EXPECT_EQ(uncut.idle_cores, 0);
}

TEST(Slabs, CoresWithoutAPlaneAreIdleInAPlainGridToo) {
  PlanProblem problem = scene_problem({1, 8, 4, 4}, 8, {.base_filters = 2, .depth = 3});
  problem.exactly = true;
  const auto all = priced(problem, quick_device());
  EXPECT_EQ(find(all, {1, 8, 1, 1, 1}, 0).idle_cores, 6);  // 8, 4, 2 planes over 8 cores
}

TEST(Slabs, WhereNothingIsThinThePlanIsThatOfThePlainGridAlone) {
  for (const Candidate& c : deep_candidates({0, 1})) EXPECT_EQ(c.cut.thinnest_slab, 0) << text_of(c);
}

}  // namespace
}  // namespace voxshard
