// The planner as its callers see it: the report, its JSON, what is refused and with which words.
#include <nlohmann/json.hpp>
#include <regex>
#include <set>

#include "libcore/base/text.h"
#include "libcore/device/host/host_device.h"
#include "libcore/device/tpu/tpu_device.h"
#include "libcore/ops/op_table.h"
#include "pipelines/planning/run_plan.h"
#include "pipelines/tasks/table/task_table.h"
#include "tests/pipelines/training_scene.h"

namespace voxshard {
namespace {

using testing::HasSubstr;

/// Returns the options of a U-Net of base 4 and depth 3 over 32^3, for a TPU v3.
PlanOptions small_options(std::int64_t cores = 4) {
  PlanOptions o{.extents = {2, 32, 32, 32}, .device = device_from_name("tpu-v3"), .cores = cores, .threads = 2};
  o.spec.as<UNetConfig>() = {.base_filters = 4, .depth = 3};
  o.spec.precision = DType::kF32;
  return o;
}

PlanReport planned(const PlanOptions& options) {
  NoProgress progress;
  return run_plan(options, progress);
}

/// Returns the text of the refusal over the budget.
std::string refusal(const PlanOptions& options) {
  try {
    planned(options);
  } catch (const Error& e) {
    EXPECT_EQ(e.kind(), ErrorKind::kBudget) << e.what();
    return e.what();
  }
  ADD_FAILURE() << "nothing was refused";
  return "";
}

/// A TPU v3 of one board: 8 cores.
NamedDevice one_board() {
  TpuSpec spec = *device_from_name("tpu-v3").device->tpu();
  spec.slices.resize(1);
  return {.device = std::make_shared<TpuDevice>(spec)};
}

/// This machine with one rate for all work: 1 Gbyte, Gelement or Gflop a second.
NamedDevice flat_host() {
  HostRates rates{.threads = 2, .task_s = 1e-6, .barrier_s = 1e-5};
  for (const char* work : kHostWork) rates.tables.push_back({.op = work, .values = {1e9}});
  for (const auto& [op, def] : op_table().all()) rates.tables.push_back({.op = op, .values = {1e9}});
  return {.device = std::make_shared<HostDevice>("host", rates)};
}

TEST(RunPlan, TheChosenIsTheFastestThatFitsAndItsDetailsAgree) {
  const PlanReport r = planned(small_options());
  ASSERT_TRUE(r.best.has_value());
  for (const Candidate& c : r.candidates)
    if (c.fits()) {
      EXPECT_LE(r.chosen().step_s, c.step_s * 1.001);
    }
  EXPECT_TRUE(r.emulated);
  EXPECT_EQ(r.device, "tpu-v3");
  EXPECT_EQ(r.core_budget_bytes, (std::int64_t{16} << 30) - (std::int64_t{528} << 20));
  EXPECT_DOUBLE_EQ(r.price.step_s, r.chosen().step_s);
  EXPECT_GT(r.bytes.optimizer, 0);
  EXPECT_LE(r.bytes.optimizer, 2 * r.memory.parameter_bytes) << "running statistics have no optimizer state";
  EXPECT_EQ(r.memory.arena_bytes + r.memory.parameter_bytes + r.memory.gradient_bytes + r.memory.replicated_bytes +
                r.bytes.optimizer,
            r.chosen().core_bytes);
  ASSERT_EQ(r.largest.size(), 8u);
  EXPECT_GE(r.largest.front().bytes, r.largest.back().bytes);
}

TEST(RunPlan, JsonHasTheFieldsOfTheIssue) {
  const PlanReport r = planned(small_options());
  const auto json = to_json(r, false);
  for (const char* key : {"device", "clock", "planning_seconds", "candidates_priced", "chosen", "time", "memory"})
    EXPECT_TRUE(json.contains(key)) << key;
  EXPECT_FALSE(json.contains("candidates"));
  EXPECT_EQ(json["clock"], "emulated");
  for (const char* key : {"partition", "replicas", "cores", "recompute", "thinnest_slab", "reason", "core_bytes",
                          "step_seconds", "halo_bytes", "messages", "hops", "thinnest_planes", "idle_cores"})
    EXPECT_TRUE(json["chosen"].contains(key)) << key;
  const auto& memory = json["memory"];
  for (const char* key : {"parameters", "optimizer_state", "gradients", "kept_activations", "transient_activations",
                          "halo_margins", "partial_sums", "gaps", "arena", "replicated", "workspace", "largest"})
    EXPECT_TRUE(memory.contains(key)) << key;
  for (const auto& a : memory["largest"]) {
    EXPECT_THAT(a["shape"].get<std::string>(), testing::MatchesRegex("[a-z0-9]+\\[[0-9x]+\\]"));
    EXPECT_GE(a["bytes"], a["unpadded_bytes"]);
    EXPECT_DOUBLE_EQ(a["expansion"].get<double>(), a["bytes"].get<double>() / a["unpadded_bytes"].get<double>());
  }
}

TEST(RunPlan, ExplainListsEveryCandidateWithItsReason) {
  PlanOptions options = small_options();
  const PlanReport ample = planned(options);
  std::int64_t least = ample.chosen().core_bytes, most = 0;
  for (const Candidate& c : ample.candidates)
    if (c.fits()) least = std::min(least, c.core_bytes), most = std::max(most, c.core_bytes);
  options.core_budget_bytes = (least + most) / 2;
  const PlanReport r = planned(options);
  const auto json = to_json(r, true);
  ASSERT_EQ(json["candidates"].size(), r.candidates.size());
  std::map<std::string, int> reasons;
  for (const auto& c : json["candidates"]) {
    const std::string reason = c["reason"];
    ++reasons[reason.substr(0, reason.find_first_of("0123456789"))];
    EXPECT_EQ(c["fits"], reason == "fits");
    if (reason.starts_with("over")) {
      EXPECT_THAT(reason, testing::ContainsRegex("^over by [0-9.]+ [KMG]iB: [a-z0-9/]+ [0-9.]+ [KMG]iB$"));
    }
    EXPECT_EQ(c.contains("step_seconds"), !reason.starts_with("fits with")) << reason;
  }
  EXPECT_THAT(reasons, testing::SizeIs(3)) << "fits, fits with less recomputation, over by";
  EXPECT_EQ(json["candidates_priced"], reasons["fits"] + reasons["over by "]);
}

TEST(RunPlan, CoresAreALimitOrExactlyThatMany) {
  PlanOptions options = small_options(2);
  for (const Candidate& c : planned(options).candidates) EXPECT_LE(c.cut.mesh.cores(), 2);
  options.exactly = true;
  for (const Candidate& c : planned(options).candidates) EXPECT_EQ(c.cut.mesh.cores(), 2);
  options.cores = 3;
  expect_error(ErrorKind::kConfig, "no legal grid has exactly 3 cores", [&] { planned(options); });
  options.cores = 4097;
  expect_error(ErrorKind::kConfig, "{cores} is 4097", [&] { planned(options); });
}

TEST(RunPlan, WithoutCoresTheSliceOrSixteenIsTheLimit) {
  auto widest = [](const PlanOptions& options) {
    std::int64_t cores = 0;
    for (const Candidate& c : planned(options).candidates) cores = std::max(cores, c.cut.mesh.cores());
    return cores;
  };
  PlanOptions options = small_options(0);
  options.extents = {1, 16, 16, 16};
  EXPECT_EQ(widest(options), 16);
  options.device = device_from_name("tpu-v3-8");
  EXPECT_EQ(widest(options), 8);
  options.device = one_board();
  EXPECT_EQ(widest(options), 8);
}

TEST(RunPlan, PreferFewestTakesFewerCoresThanTheFastest) {
  PlanOptions options = small_options(4);
  options.spec.as<UNetConfig>() = {.base_filters = 32};
  options.extents = {1, 128, 128, 128};
  const PlanReport fastest = planned(options);
  options.preference = Preference::kFewestCores;
  const PlanReport fewest = planned(options);
  EXPECT_EQ(fewest.chosen().cut.mesh.cores(), 1);
  EXPECT_GT(fastest.chosen().cut.mesh.cores(), 1);
  EXPECT_LT(fastest.chosen().step_s, fewest.chosen().step_s);
}

TEST(RunPlan, ARunOnTheFewestCoresGetsTheSameGridFromFewerCandidates) {
  PlanOptions options = small_options(8);
  options.device = flat_host(), options.preference = Preference::kFewestCores, options.extents = {4, 32, 32, 32};
  const std::int64_t alone = planned(options).chosen().core_bytes;
  std::set<std::int64_t> cores;
  for (const std::int64_t divisor : {1, 2, 3, 5}) {
    options.core_budget_bytes = alone / divisor;
    options.for_run = false;
    const PlanReport all = planned(options);
    options.for_run = true;
    const PlanReport few = planned(options);
    EXPECT_EQ(to_json(few, false)["chosen"], to_json(all, false)["chosen"]) << divisor;
    cores.insert(few.chosen().cut.mesh.cores());
    EXPECT_EQ(few.candidates.size() < all.candidates.size(), few.chosen().cut.mesh.cores() <= 4) << divisor;
  }
  EXPECT_GE(cores.size(), 3) << "budgets of one core, and of several";
}

TEST(RunPlan, MemoryOverridesTheDevice) {
  PlanOptions options = small_options(8);
  options.exactly = true;
  const std::int64_t on_eight = planned(options).chosen().core_bytes;
  options.exactly = false;
  options.core_budget_bytes = on_eight;
  const PlanReport r = planned(options);
  EXPECT_EQ(r.core_budget_bytes, on_eight);
  EXPECT_LE(r.chosen().core_bytes, on_eight);
  EXPECT_LE(r.memory.arena_bytes, on_eight);
}

TEST(RunPlan, OverTheBudgetNamesTheNearestItsAllocationsAndAGridThatFits) {
  PlanOptions options = small_options(8);
  options.exactly = true;
  const std::int64_t on_eight = planned(options).chosen().core_bytes;
  options.cores = 1;
  options.core_budget_bytes = on_eight;
  const std::string text = refusal(options);
  EXPECT_THAT(text,
              HasSubstr("[plan] no grid of 1 cores fits " + bytes_text(on_eight) + " of a core; nearest is 1x1x1x1x1"));
  EXPECT_THAT(text, HasSubstr(", over by "));
  const std::regex allocation("\n  [0-9.]+ [KMG]iB  [a-z0-9/_ ()]+  [a-z0-9]+\\[[0-9x]+\\]  unpadded [0-9.]+ [KMG]iB");
  EXPECT_EQ(std::distance(std::sregex_iterator(text.begin(), text.end(), allocation), std::sregex_iterator()), 5)
      << text;
  options.advises = false;
  EXPECT_THAT(refusal(options), testing::AllOf(testing::Not(HasSubstr("This fits: ")), HasSubstr("This would fit: ")));
  std::smatch fits;
  ASSERT_TRUE(std::regex_search(text, fits, std::regex("\nThis fits: .* \\(([0-9]+) cores\\)$"))) << text;
  options.cores = std::stoll(fits[1]);
  EXPECT_GT(options.cores, 1);
  EXPECT_TRUE(planned(options).chosen().fits());
}

TEST(RunPlan, WhereNoGridFitsTheMemoryThatWouldIsNamed) {
  PlanOptions options = small_options(2);
  options.device = one_board();      // of few grids
  options.core_budget_bytes = 1000;  // less than the weights
  const std::string text = refusal(options);
  EXPECT_THAT(text, HasSubstr("no grid of up to 2 cores fits 1000 bytes of a core"));
  EXPECT_THAT(text, HasSubstr("This would fit: "));
  EXPECT_THAT(text, HasSubstr(" a core, or a smaller size, batch or number of base filters"));
}

TEST(RunPlan, TheHostBudgetIsOfAllCoresTogetherInThisMachinesBytes) {
  PlanOptions options = small_options(4);
  options.exactly = true;
  options.host_budget_bytes = std::int64_t{4} << 30;
  const PlanReport r = planned(options);
  const Graph graph = build_graph(options.spec, options.extents, Phase::kTrain, DType::kF32);
  const Executable e = lower(graph, op_table(), r.chosen().cut, {.optimizer_slots = 2, .workers = 2});
  EXPECT_EQ(r.chosen().all_bytes, e.bytes.process());
  EXPECT_EQ(r.chosen().core_bytes, e.bytes.widest_core());
  EXPECT_EQ(r.bytes.packed, e.memory.packed_bytes);
  EXPECT_EQ(r.bytes.workspaces, 2 * e.kernels.workspace_bytes);
  options.host_budget_bytes = 1000;
  EXPECT_THAT(refusal(options), HasSubstr("fits 1000 bytes of all cores together"));
}

TEST(RunPlan, WhatTheKernelsAskForMayCallForMoreRecomputation) {
  PlanOptions options = small_options(1);
  const Graph graph = build_graph(options.spec, options.extents, Phase::kTrain, DType::kF32);
  const Executable e = lower(graph, op_table(), options.spec.cut, {.optimizer_slots = 2, .workers = 2});
  const std::int64_t needed = e.bytes.process(), without_kernels = needed - e.bytes.packed - e.bytes.workspaces;
  ASSERT_LT(without_kernels, needed - 1) << "the kernels ask for scratch";
  options.host_budget_bytes = needed;
  EXPECT_EQ(planned(options).chosen().cut.recompute, Recompute::kNone);
  --options.host_budget_bytes;
  const PlanReport r = planned(options);
  EXPECT_EQ(r.chosen().cut.recompute, Recompute::kNorms);
  EXPECT_LE(r.chosen().all_bytes, options.host_budget_bytes);
  EXPECT_EQ(r.candidates[0].verdict, Verdict::kOver);
  EXPECT_EQ(r.candidates[0].over_bytes, 1);
}

TEST(RunPlan, OnThisMachineSecondsAreOfTheWallAndNothingIsPaddedOrLimited) {
  PlanOptions options = small_options(2);
  options.device = flat_host();
  const PlanReport r = planned(options);
  EXPECT_FALSE(r.emulated);
  EXPECT_EQ(to_json(r, false)["clock"], "wall");
  EXPECT_EQ(r.core_budget_bytes, 0);
  EXPECT_GT(r.chosen().step_s, 0);
  EXPECT_GT(r.bytes.workspaces, 0);
  EXPECT_EQ(r.memory.arena_bytes + r.memory.parameter_bytes + r.memory.gradient_bytes + r.memory.replicated_bytes +
                r.bytes.optimizer + r.bytes.packed,
            r.chosen().core_bytes);
}

TEST(RunPlan, ADetectorRunsTheProgramThatWasPlanned) {
  PlanOptions options = small_options(4);
  options.spec = retinanet_spec({.backbone = Backbone::kResNet18, .classes = 3, .filters = 4, .pyramid_filters = 8});
  options.spec.precision = DType::kF32;
  options.extents = {1, 160, 192};  // the targets of the deeper levels are whole on every core
  options.device = flat_host();
  options.exactly = options.for_run = true;
  const PlanReport r = planned(options);
  const ModelSpec spec = with_plan(options.spec, r.chosen());
  WorkerPool pool(2);
  Session session(op_table(), lowering_of(spec, {}, {.optimizer_slots = 2, .workers = 2}), pool);
  const Executable& run = session.plan(options.extents, Phase::kTrain);
  EXPECT_EQ(r.chosen().core_bytes, run.bytes.widest_core());
  EXPECT_DOUBLE_EQ(r.price.step_s, options.device.device
                                       ->price(run.program, op_table(),
                                               feed_of(run.program.graph, task_of(task_table(), spec).records()))
                                       .step_s);
  EXPECT_FALSE(run.program.cut.inputs.empty());
  EXPECT_EQ(run.program.cut, r.chosen().cut);
}

TEST(RunPlan, CountsTheStateOfTheOptimizerThatRuns) {
  PlanOptions options = small_options(2);
  options.device = flat_host();
  const Graph graph = build_graph(options.spec, options.extents, Phase::kTrain, DType::kF32);
  for (const OptimizerOptions& optimizer : {OptimizerOptions{},
                                            {.kind = OptimizerKind::kSgd},
                                            {.kind = OptimizerKind::kSgd, .momentum = 0},
                                            {.kind = OptimizerKind::kAdadelta},
                                            {.kind = OptimizerKind::kAdagrad},
                                            {.kind = OptimizerKind::kRmsprop}}) {
    options.optimizer = optimizer;
    EXPECT_EQ(planned(options).bytes.optimizer, Optimizer::state_bytes(optimizer, graph));
  }
}

TEST(RunPlan, WithPlanCutsTheModelAsTheCandidateSays) {
  const Candidate candidate{.cut = {.mesh = {.replicas = 2, .partition = {1, 1, 4, 1, 1}},
                                    .thinnest_slab = 4,
                                    .recompute = Recompute::kLevels}};
  ModelSpec before;
  before.as<UNetConfig>().base_filters = 7, before.cut.mesh.partition = {1, 2, 1, 1, 1};
  const ModelSpec spec = with_plan(before, candidate);
  EXPECT_EQ(to_string(spec.cut.mesh.partition), "1x1x4x1x1");
  EXPECT_EQ(spec.cut.mesh.replicas, 2);
  EXPECT_EQ(spec.cut.recompute, Recompute::kLevels);
  EXPECT_EQ(spec.cut.thinnest_slab, 4);
  EXPECT_EQ(spec.as<UNetConfig>().base_filters, 7);
}

}  // namespace
}  // namespace voxshard
