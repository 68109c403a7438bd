// The choice among the priced candidates, on candidates made by hand.
#include <algorithm>

#include "tests/planner/planner_scene.h"

namespace voxshard {
namespace {

using namespace test;

struct Made {
  Dims partition;
  double step_s = 1;
  Recompute recompute = Recompute::kNone;
  std::int64_t messages = 0;
  std::int64_t replicas = 1;
  Verdict verdict = Verdict::kFits;
  std::int64_t over_bytes = 0;
};

Candidate candidate(const Made& made) {
  return {.cut = {.mesh = {.replicas = made.replicas, .partition = made.partition}, .recompute = made.recompute},
          .verdict = made.verdict,
          .over_bytes = made.over_bytes,
          .step_s = made.step_s,
          .messages = made.messages};
}

/// Expects number 0 to be chosen in whatever order the candidates come.
void expect_first(const std::vector<Made>& made, Preference preference = Preference::kFastest) {
  std::vector<std::size_t> order(made.size());
  for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
  do {
    std::vector<Candidate> candidates;
    for (std::size_t i : order) candidates.push_back(candidate(made[i]));
    const auto best = choose(candidates, preference);
    ASSERT_TRUE(best.has_value());
    EXPECT_EQ(order[*best], 0u) << "candidate " << *best << " of this order is "
                                << to_string(candidates[*best].cut.mesh.partition);
  } while (std::next_permutation(order.begin(), order.end()));
}

TEST(Choose, TakesTheShortestStepThatFits) {
  expect_first({{.partition = {1, 4, 1, 1, 1}, .step_s = 2},
                {.partition = {1, 2, 1, 1, 1}, .step_s = 3},
                {.partition = {1, 1, 1, 1, 1}, .step_s = 4},
                {.partition = {1, 8, 1, 1, 1}, .step_s = 1, .verdict = Verdict::kOver, .over_bytes = 1},
                {.partition = {1, 16, 1, 1, 1}, .step_s = 0, .verdict = Verdict::kNotNeeded}});
}

TEST(Choose, ATieWithinOneInAThousandGoesToFewerCores) {
  expect_first({{.partition = {1, 2, 1, 1, 1}, .step_s = 1.0009}, {.partition = {1, 4, 1, 1, 1}, .step_s = 1}});
  expect_first({{.partition = {1, 4, 1, 1, 1}, .step_s = 1}, {.partition = {1, 2, 1, 1, 1}, .step_s = 1.0011}});
  expect_first({{.partition = {1, 1, 1, 1, 1}, .replicas = 2}, {.partition = {1, 4, 1, 1, 1}, .step_s = 1}});
}

TEST(Choose, ATieIsMeasuredFromTheFastestNotFromTheNeighbour) {
  expect_first({{.partition = {1, 4, 1, 1, 1}, .step_s = 1.0008},
                {.partition = {1, 2, 1, 1, 1}, .step_s = 1.0016},
                {.partition = {1, 8, 1, 1, 1}, .step_s = 1}});
}

TEST(Choose, OfEqualCoresATieGoesToLessRecomputationThenFewerMessagesThenOuterCuts) {
  expect_first({{.partition = {1, 1, 1, 4, 1}, .messages = 9},
                {.partition = {1, 4, 1, 1, 1}, .recompute = Recompute::kNorms, .messages = 1}});
  expect_first({{.partition = {1, 1, 1, 4, 1}, .messages = 3}, {.partition = {1, 4, 1, 1, 1}, .messages = 4}});
  expect_first({{.partition = {1, 4, 1, 1, 1}},
                {.partition = {1, 2, 2, 1, 1}},
                {.partition = {1, 2, 1, 2, 1}},
                {.partition = {1, 1, 1, 4, 1}}});
}

TEST(Choose, FewestCoresTakesThemHoweverSlow) {
  expect_first({{.partition = {1, 2, 1, 1, 1}, .step_s = 9},
                {.partition = {1, 4, 1, 1, 1}, .step_s = 1},
                {.partition = {1, 1, 1, 1, 1}, .step_s = 1, .verdict = Verdict::kOver, .over_bytes = 5}},
               Preference::kFewestCores);
}

TEST(Choose, OfTheFewestCoresTheFastest) {
  expect_first({{.partition = {1, 1, 2, 1, 1}, .step_s = 5, .recompute = Recompute::kNorms, .messages = 7},
                {.partition = {1, 2, 1, 1, 1}, .step_s = 6},
                {.partition = {1, 1, 1, 2, 1}, .step_s = 7},
                {.partition = {1, 4, 1, 1, 1}, .step_s = 1}},
               Preference::kFewestCores);
}

TEST(Choose, NothingFitsNothingIsChosen) {
  EXPECT_FALSE(choose({}, Preference::kFastest).has_value());
  const std::vector<Candidate> none = {
      candidate({.partition = {1, 1, 1, 1, 1}, .verdict = Verdict::kOver, .over_bytes = 1}),
      candidate({.partition = {1, 2, 1, 1, 1}, .verdict = Verdict::kNotNeeded})};
  EXPECT_FALSE(choose(none, Preference::kFastest).has_value());
  EXPECT_FALSE(choose(none, Preference::kFewestCores).has_value());
}

TEST(NearestMiss, IsOverByTheLeast) {
  const std::vector<Candidate> candidates = {
      candidate({.partition = {1, 1, 1, 1, 1}, .verdict = Verdict::kOver, .over_bytes = 30}),
      candidate({.partition = {1, 2, 1, 1, 1}, .verdict = Verdict::kNotNeeded}),
      candidate({.partition = {1, 4, 1, 1, 1}, .verdict = Verdict::kOver, .over_bytes = 10}),
      candidate({.partition = {1, 8, 1, 1, 1}, .verdict = Verdict::kFits}),
      candidate({.partition = {1, 1, 8, 1, 1}, .verdict = Verdict::kOver, .over_bytes = 20})};
  EXPECT_EQ(nearest_miss(candidates), 2u);
  EXPECT_FALSE(nearest_miss({candidates[1], candidates[3]}).has_value());
  EXPECT_FALSE(nearest_miss({}).has_value());
}

}  // namespace
}  // namespace voxshard
