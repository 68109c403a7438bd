// Prices and choices against a search of everything: the same bytes as the plan of a run, the same seconds as the
// device, nothing better left out.
#include <cmath>
#include <map>
#include <set>

#include "libcore/graph/builder.h"
#include "tests/planner/planner_scene.h"

namespace voxshard {
namespace {

using namespace test;

struct Found {
  std::int64_t cores = 0, core_bytes = 0, all_bytes = 0;
  double step_s = 0;
};

/// Prices every partition, replicas, recomputation and slab width of at most 4 cores and a batch of 2, without the
/// planner.
std::vector<Found> search(const PlanProblem& problem, const Device& device) {
  std::vector<Found> all;
  for (const std::int64_t replicas : {1, 2})
    for (const std::int64_t d : {1, 2, 4})
      for (const std::int64_t h : {1, 2, 4})
        for (const std::int64_t w : {1, 2, 4}) {
          const Mesh mesh{.replicas = replicas, .partition = {1, d, h, w, 1}};
          if (mesh.cores() > problem.cores) continue;
          for (Recompute recompute : kRecomputeChoices)
            for (const std::int64_t thinnest_slab : {0, 4}) {
              const Graph graph = step_graph(problem.graph, op_table(), recompute);
              const Program program = partition(graph, op_table(), {.mesh = mesh, .thinnest_slab = thinnest_slab});
              const MemoryPlan memory = plan_memory(program, op_table(), {.tiled = problem.tiled});
              // Adam's moments
              std::int64_t shared = memory.process.bytes + memory.parameter_bytes + 2 * memory.trained_bytes;
              std::int64_t widest = 0, together = shared;
              for (const Pool& arena : memory.arenas) widest = std::max(widest, arena.bytes), together += arena.bytes;
              all.push_back({.cores = mesh.cores(),
                             .core_bytes = widest + shared,
                             .all_bytes = together,
                             .step_s = device.price(program, op_table(), problem.feed).step_s});
            }
        }
  return all;
}

struct Searched {
  PlanProblem problem;
  TpuDevice device = quick_device();
  std::vector<Found> all;
  std::vector<std::int64_t> budgets;  // from too small to ample

  explicit Searched(bool tiled) : problem(scene_problem({2, 16, 16, 16}, 4)) {
    problem.tiled = tiled;
    all = search(problem, device);
    std::vector<std::int64_t> bytes;
    for (const Found& f : all) bytes.push_back(tiled ? f.core_bytes : f.all_bytes);
    std::sort(bytes.begin(), bytes.end());
    budgets.push_back(bytes.front() - 1);
    for (std::size_t part = 0; part <= 6; ++part) budgets.push_back(bytes[(bytes.size() - 1) * part / 6]);
    (tiled ? problem.core_bytes : problem.all_cores_bytes) = 1;
  }
  std::int64_t& budget() { return problem.tiled ? problem.core_bytes : problem.all_cores_bytes; }
};

Searched& of_a_core() {
  static Searched searched(true);
  return searched;
}
Searched& of_the_process() {
  static Searched searched(false);
  return searched;
}

class ChosenBySearch : public testing::TestWithParam<bool> {
 protected:
  Searched& searched() { return GetParam() ? of_a_core() : of_the_process(); }
};

TEST_P(ChosenBySearch, NothingThatFitsIsFaster) {
  std::set<std::string> chosen;
  for (const std::int64_t budget : searched().budgets) {
    searched().budget() = budget;
    double fastest = INFINITY;
    for (const Found& f : searched().all)
      if ((GetParam() ? f.core_bytes : f.all_bytes) <= budget) fastest = std::min(fastest, f.step_s);
    const auto candidates = priced(searched().problem, searched().device);
    const auto best = choose(candidates, Preference::kFastest);
    ASSERT_EQ(best.has_value(), std::isfinite(fastest)) << budget;
    if (!best) continue;
    const Candidate& c = candidates[*best];
    EXPECT_LE(GetParam() ? c.core_bytes : c.all_bytes, budget);
    EXPECT_GE(c.step_s, fastest) << budget;
    EXPECT_LE(c.step_s, fastest * 1.001) << budget << "\n" << text_of(c);
    chosen.insert(text_of(c));
  }
  EXPECT_GE(chosen.size(), 3u) << "the budgets should not all lead to one grid";
}

TEST_P(ChosenBySearch, NothingThatFitsHasFewerCoresOrIsFasterOnAsMany) {
  for (const std::int64_t budget : searched().budgets) {
    searched().budget() = budget;
    std::int64_t fewest = 1000;
    double fastest = INFINITY;
    for (const Found& f : searched().all) {
      if ((GetParam() ? f.core_bytes : f.all_bytes) > budget) continue;
      if (f.cores < fewest || (f.cores == fewest && f.step_s < fastest)) fastest = f.step_s;
      fewest = std::min(fewest, f.cores);
    }
    const auto candidates = priced(searched().problem, searched().device);
    const auto best = choose(candidates, Preference::kFewestCores);
    ASSERT_EQ(best.has_value(), std::isfinite(fastest)) << budget;
    if (!best) continue;
    EXPECT_EQ(candidates[*best].cut.mesh.cores(), fewest) << budget;
    EXPECT_LE(candidates[*best].step_s, fastest * 1.001) << budget;
  }
}

TEST_P(ChosenBySearch, ASmallerBudgetNeverGivesAFasterPlan) {
  double before = INFINITY;
  for (const std::int64_t budget : searched().budgets) {  // ascending
    searched().budget() = budget;
    const auto candidates = priced(searched().problem, searched().device);
    const auto best = choose(candidates, Preference::kFastest);
    if (!best) continue;
    EXPECT_LE(candidates[*best].step_s, before * 1.001) << budget;  // a tie may go to fewer cores
    before = candidates[*best].step_s;
  }
  EXPECT_TRUE(std::isfinite(before));
}

TEST_P(ChosenBySearch, MoreRecomputationIsPricedOnlyWhenLessDoesNotFit) {
  const auto& budgets = searched().budgets;
  searched().budget() = budgets[budgets.size() / 2];
  const auto candidates = priced(searched().problem, searched().device);
  std::map<Verdict, int> count;
  for (std::size_t i = 0; i < candidates.size(); ++i) {
    const Candidate& c = candidates[i];
    ++count[c.verdict];
    if (c.cut.recompute == Recompute::kNone) {
      EXPECT_NE(c.verdict, Verdict::kNotNeeded) << text_of(c);
      continue;
    }
    const Candidate& less = candidates[i - 1];
    EXPECT_EQ(static_cast<int>(less.cut.recompute) + 1, static_cast<int>(c.cut.recompute));
    EXPECT_EQ(to_string(less.cut.mesh.partition), to_string(c.cut.mesh.partition));
    EXPECT_EQ(c.verdict == Verdict::kNotNeeded, less.verdict != Verdict::kOver) << text_of(c);
    EXPECT_EQ(c.step_s == 0, c.verdict == Verdict::kNotNeeded) << text_of(c);
  }
  EXPECT_EQ(count.size(), 3u) << "each verdict should appear";
}

INSTANTIATE_TEST_SUITE_P(Budgets, ChosenBySearch, testing::Bool(),
                         [](const auto& info) { return info.param ? "OfACoreInTiles" : "OfTheProcessInHostBytes"; });

TEST(PriceCandidates, ACandidateThatWasNotNeededCanBePricedLater) {
  const PlanProblem problem = scene_problem({1, 8, 8, 8}, 2);
  const auto some = priced(problem, quick_device());
  auto expected = priced_all(problem, quick_device());
  ASSERT_EQ(some.size(), expected.size());
  int later = 0;
  for (std::size_t i = 0; i < some.size(); ++i) {
    Candidate c = some[i];
    if (c.verdict == Verdict::kNotNeeded) {
      ++later;
      price_candidate(problem, op_table(), quick_device(), c);
    }
    expected[i].verdict = Verdict::kFits, expected[i].over_bytes = 0, expected[i].largest.clear();
    EXPECT_EQ(text_of(c), text_of(expected[i]));
  }
  EXPECT_GT(later, 0);
}

TEST(PriceCandidates, WhatIsOverSaysByHowMuchAndWhatFillsTheCore) {
  PlanProblem problem = scene_problem({1, 16, 16, 16}, 2);
  for (const Candidate& c : priced_all(problem, quick_device())) {
    EXPECT_EQ(c.over_bytes, c.core_bytes - 1);
    ASSERT_EQ(c.largest.size(), 5u);
    for (std::size_t i = 1; i < 5; ++i) EXPECT_GE(c.largest[i - 1].bytes, c.largest[i].bytes);
  }
  // If two budgets are exceeded, the one that is exceeded by more counts.
  const Candidate uncut = priced(problem, quick_device()).front();
  problem.core_bytes = uncut.core_bytes - 5, problem.all_cores_bytes = uncut.all_bytes - 9;
  EXPECT_EQ(priced(problem, quick_device()).front().over_bytes, 9);
  problem.core_bytes = uncut.core_bytes, problem.all_cores_bytes = uncut.all_bytes;
  EXPECT_TRUE(priced(problem, quick_device()).front().fits()) << "exactly enough is enough";
}

TEST(PriceCandidates, RanksHaveACoreEachAndTheBytesOfTheirOwn) {
  PlanProblem problem = scene_problem({1, 16, 16, 16}, 4);
  problem.tiled = false, problem.ranks = 3;
  int seen = 0;
  for (const Candidate& c : priced(problem, quick_device())) {
    EXPECT_EQ(c.cut.mesh.cores(), 4) << "1 and 2 cores are fewer than ranks";
    if (c.verdict == Verdict::kNotNeeded) continue;
    ++seen;
    Target target = problem.target();
    target.kernels = KernelSet::kReference;
    const Executable last = lower(problem.graph, op_table(), c.cut, target);
    const auto& arenas = last.bytes.arenas;
    EXPECT_EQ(c.all_bytes, arenas[2] + arenas[3] + last.bytes.results + last.bytes.parameters + last.bytes.optimizer)
        << "the last of 3 ranks hosts 2 of the 4 cores";
  }
  EXPECT_GT(seen, 0);
}

TEST(PriceCandidates, TheBytesOfAHostAreThoseOfTheCompiledPlan) {
  PlanProblem problem = scene_problem({2, 16, 8, 8}, 4, {.base_filters = 4, .depth = 3});
  problem.exactly = true, problem.tiled = false, problem.optimizer_slots = 3;
  std::set<std::string> kinds;
  for (const Candidate& c : priced_all(problem, quick_device())) {
    const Executable e =
        lower(problem.graph, op_table(), c.cut, {.kernels = KernelSet::kReference, .optimizer_slots = 3});
    EXPECT_EQ(c.core_bytes, e.bytes.widest_core() - e.bytes.packed) << text_of(c);
    EXPECT_EQ(c.all_bytes, e.bytes.process() - e.bytes.packed - e.bytes.workspaces) << text_of(c);
    kinds.insert(std::to_string(c.cut.mesh.replicas) + recompute_name(c.cut.recompute) +
                 std::to_string(c.cut.thinnest_slab));
  }
  EXPECT_EQ(kinds.size(), 16u) << "1 or 2 replicas, four recomputations, merged or not";
}

TEST(PriceCandidates, DoNotDependOnTheNumberOfWorkers) {
  PlanProblem problem = scene_problem({2, 16, 8, 8}, 4);
  problem.core_bytes = of_a_core().budgets.front();
  const auto one = priced(problem, quick_device(), 1), three = priced(problem, quick_device(), 3);
  ASSERT_EQ(one.size(), three.size());
  for (std::size_t i = 0; i < one.size(); ++i) EXPECT_EQ(text_of(one[i]), text_of(three[i]));
}

TEST(PriceCandidates, WhenTheHostsAreSlowestOneCoreIsEnough) {
  PlanProblem problem = scene_problem({1, 16, 16, 16}, 8);
  const auto by_cores = priced(problem, quick_device());
  EXPECT_GT(by_cores[*choose(by_cores, Preference::kFastest)].cut.mesh.cores(), 1);
  problem.feed = {.record_bytes = 1e9, .transfer_bytes = 1e9};  // 10 s of the toy's host; 8 cores hang on one
  const auto by_host = priced(problem, quick_device());
  const Candidate& best = by_host[*choose(by_host, Preference::kFastest)];
  EXPECT_EQ(best.cut.mesh.cores(), 1);
  EXPECT_EQ(best.step_s, best.feed_s);
  EXPECT_LT(best.device_s, best.feed_s);
}

TEST(PriceCandidates, AGraphWithoutInputsIsRefused) {
  PlanProblem problem;
  Builder(problem.graph, op_table()).parameter("w", {DType::kF32, {4}});
  expect_config_error("[plan] the model has no input", [&] { priced(problem, quick_device()); });
}

TEST(PriceCandidates, MoreCoresThanTheDeviceHasAreRefused) {
  expect_config_error("use fewer cores", [] {
    priced(scene_problem({1, 16, 16, 16}, 16), TpuDevice(toy_slice(2, 2, false, false)));
  });
}

}  // namespace
}  // namespace voxshard
