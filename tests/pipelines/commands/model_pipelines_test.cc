// verify, bench and explain as their callers see them: the contents of the JSON, and that a fault is found.
#include <nlohmann/json.hpp>

#include "apps/terminal/exit_code.h"
#include "pipelines/bench/run_bench.h"
#include "pipelines/commands/run_explain.h"
#include "pipelines/commands/run_verify.h"
#include "tests/pipelines/training_scene.h"
#include "tests/ranks/mailbox.h"

namespace voxshard {
namespace {

ModelSpec small_spec(DType precision = DType::kF32) {
  ModelSpec spec;
  spec.as<UNetConfig>() = {.base_filters = 4, .depth = 3};
  spec.precision = precision, spec.cut.mesh.partition = {1, 2, 1, 2, 1};
  return spec;
}

NoProgress quiet;

std::vector<std::string> keys(const nlohmann::ordered_json& json) {
  std::vector<std::string> names;
  for (const auto& [key, value] : json.items()) names.push_back(key);
  return names;
}

TEST(RunVerify, AnEqualModelHasNoFirstDifference) {
  const auto json =
      to_json(run_verify({.spec = small_spec(), .extents = {1, 12, 8, 16}, .seed = 2}, {quiet, {.threads = 2}}));
  EXPECT_THAT(keys(json), testing::ElementsAre("equal", "verdict", "not_checked", "first_difference", "kernels",
                                               "optimizers", "layers", "end_to_end", "grids", "tolerance"));
  EXPECT_EQ(json["equal"], true);
  EXPECT_EQ(json["verdict"], "equal");
  EXPECT_TRUE(json["not_checked"].empty());
  EXPECT_TRUE(json["first_difference"].is_null());
  EXPECT_GT(json["layers"]["compared"], 50);
}

TEST(RunVerify, WhereNothingIsComparedWithSlowKernelsItIsEqualAsFarAsChecked) {
  const auto report = run_verify({.spec = small_spec(), .extents = {1, 12, 8, 16}, .oracle = Oracles::kFast}, quiet);
  EXPECT_EQ(verdict(report), "equal as far as checked");
  EXPECT_THAT(report.not_checked(), testing::ElementsAre("all kernels"));
}

TEST(RunVerify, WithoutAPartitionSeveralGridsAreChosenThatCutSomething) {
  EXPECT_THAT(grids_to_verify({1, 12, 8, 16}),
              testing::ElementsAre(Dims{1, 2, 1, 1, 1}, Dims{1, 2, 2, 2, 1}, Dims{1, 3, 1, 2, 1}));
  EXPECT_THAT(grids_to_verify({2, 12, 1}), testing::ElementsAre(Dims{1, 2, 1, 1}, Dims{1, 3, 1, 1}, Dims{2, 2, 1, 1}));
  EXPECT_THROW(grids_to_verify({1, 1, 1, 1}), Error);
  const VerifyOptions options{
      .spec = small_spec(), .extents = {1, 12, 8, 16}, .grids = grids_to_verify({1, 12, 8, 16})};
  const auto json = to_json(run_verify(options, {quiet, {.threads = 2}}));
  EXPECT_EQ(json["equal"], true);
  ASSERT_EQ(json["grids"].size(), 3u);
  EXPECT_EQ(json["grids"][1]["partition"], "1x2x2x2x1");
}

/// Changes one value of the fifth copy.
struct FaultyTransport : InProcessTransport {
  void copy(std::int64_t from, std::int64_t to, const TensorView& src, const TensorView& dst) override {
    InProcessTransport::copy(from, to, src, dst);
    if (++started == 5) store(dst, 0, load(dst, 0) + 4);
  }
  std::atomic<int> started{0};
};

TEST(RunVerify, AFaultOfTheTransportNamesTheFirstWrongLayerAndExitsWithNine) {
  FaultyTransport transport;
  ModelSpec spec = small_spec();
  spec.cut.mesh.partition = {1, 2, 1, 1, 1};
  const auto report = run_verify({.spec = spec, .extents = {1, 12, 8, 16}}, {quiet, {.transport = &transport}});
  EXPECT_FALSE(report.equal());
  const auto json = to_json(report);
  EXPECT_EQ(json["equal"], false);
  EXPECT_THAT(json["first_difference"]["layer"].get<std::string>(), testing::StartsWith("encoder"));
  EXPECT_GT(json["first_difference"]["difference"], json["first_difference"]["allowed"]);
  EXPECT_EQ(exit_code(ErrorKind::kMismatch), 9);
}

TEST(RunVerify, AMessageThatIsLostBetweenRanksIsNamedWithItsLayerRankAndCoreOnAllOfThem) {
  test::Mailbox mailbox(3);
  bool lost = false;
  mailbox.postman = [&](test::Letter& letter) {  // the first of an exchange or sum that rank 1 sends
    if (!lost && letter.from == 1 && letter.tag < kMessageTags) lost = letter.lost = true;
  };
  test::run_valid_ranks(mailbox, [](Transport& transport) {
    const auto json =
        to_json(run_verify({.spec = small_spec(), .extents = {1, 12, 8, 16}}, {quiet, {.transport = &transport}}));
    EXPECT_EQ(json["equal"], false);
    EXPECT_EQ(json["first_difference"]["layer"], "image");
    EXPECT_EQ(json["first_difference"]["what"], "margin");
    EXPECT_EQ(json["first_difference"]["rank"], "rank 0");
    EXPECT_EQ(json["first_difference"]["core"], 0);
  });
  EXPECT_TRUE(lost);
}

TEST(RunBench, StepsAndKernelsSayWhereTheTimeGoes) {
  NoProgress progress;
  const RunContext context(progress, {.threads = 2});
  const BenchOptions options{.spec = small_spec(DType::kBF16), .extents = {1, 8, 8, 8}, .steps = 2};
  const auto step = to_json(run_bench_step(options, context));
  for (const char* key : {"step_seconds", "gflops_per_second", "by_op", "by_instruction", "peak_resident_bytes",
                          "planned_bytes", "resident_before_bytes"})
    EXPECT_TRUE(step.contains(key)) << key;
  EXPECT_THAT(keys(step["step_seconds"]), testing::ElementsAre("median", "min", "max"));
  EXPECT_GT(step["gflops_per_second"], 0);
  EXPECT_TRUE(step["by_op"].contains("exchange"));
  const auto kernels = to_json(run_bench_kernels(options, context));
  EXPECT_LT(kernels["by_instruction"].size(), step["by_instruction"].size());
  for (const auto& row : kernels["by_instruction"])
    EXPECT_THAT(row["op"].get<std::string>(), testing::StartsWith("conv"));
}

TEST(RunBench, IsRefusedOverTheBudget) {
  NoProgress progress;
  expect_error(ErrorKind::kBudget, "nothing was allocated", [&] {
    run_bench_step({.spec = small_spec(), .extents = {1, 32, 32, 32}}, {progress, {.core_budget_bytes = 1 << 20}});
  });
}

TEST(RunExplain, EveryStageIsText) {
  for (const char* stage : {"graph", "grad", "program", "memory"})
    EXPECT_GT(run_explain(small_spec(), {1, 8, 8, 8}, stage).size(), 500u);
  EXPECT_LT(run_explain(small_spec(), {1, 8, 8, 8}, "graph").size(),
            run_explain(small_spec(), {1, 8, 8, 8}, "grad").size());
  expect_error(ErrorKind::kConfig, "expected config, graph, grad, program, memory", [] {
    run_explain(small_spec(), {1, 8, 8, 8}, "dream");
  });
}

TEST(RunExplain, AStageWithABrokenInvariantIsNotPrinted) {
  ModelSpec spec = small_spec();
  Model broken = *spec.model;
  broken.build = [](const std::any& config, const GraphOptions& options, const OpTable& ops) {
    Graph graph = model_table().front()->build(config, options, ops);
    ValueId parameter = 0;
    while (graph.node(parameter).role != Role::kParameter) ++parameter;
    graph.effects.emplace_back(parameter, graph.outputs.begin()->second);
    return graph;
  };
  spec.model = std::make_shared<const Model>(broken);
  for (const char* stage : {"graph", "grad", "program", "memory"})
    expect_error(ErrorKind::kInternal, "[graph] 1 broken invariants, the first: effect on ", [&] {
      run_explain(spec, {1, 8, 8, 8}, stage);
    });
}

TEST(RunExplain, TheConfigSaysWhatNormsAndLossesAreSumsOver) {
  ModelSpec spec = small_spec();
  spec.cut.mesh = {.replicas = 2, .partition = {1, 2, 1, 1, 1}};
  const auto config = [&] { return run_explain(spec, {4, 8, 8, 8}, "config"); };
  spec.set("norm", "batch"), spec.set("loss", "adaptive_dice32");
  EXPECT_THAT(
      config(),
      testing::HasSubstr(
          "norms: sums over 4 of 4 cores and 4 of 4 samples\nloss: sums over 4 of 4 cores and 4 of 4 samples\n"));
  spec.norm_over_replica = true;
  EXPECT_THAT(
      config(),
      testing::HasSubstr(
          "norms: sums over 2 of 4 cores and 2 of 4 samples\nloss: sums over 4 of 4 cores and 4 of 4 samples\n"));
  spec.loss_over_replica = true;
  EXPECT_THAT(config(), testing::AllOf(testing::HasSubstr("loss: sums over 2 of 4 cores and 2 of 4 samples\n"),
                                       testing::HasSubstr("loss_scope = \"replica\"\n"),
                                       testing::HasSubstr("pool = \"same\"\n")));
  spec.set("loss", "tversky");
  for (const bool scope : {true, false}) {
    spec.loss_over_replica = scope;
    EXPECT_THAT(config(), testing::AllOf(testing::HasSubstr("loss: sums over 2 of 4 cores and 1 of 4 samples\n"),
                                         testing::HasSubstr("loss_scope = \"each sample\"\n")));
  }
}

}  // namespace
}  // namespace voxshard
