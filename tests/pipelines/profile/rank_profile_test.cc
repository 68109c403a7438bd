// Tests of the messages that a benchmark of several ranks reports, and of the profile that contains all ranks.
#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include <set>

#include "pipelines/bench/run_bench.h"
#include "tests/pipelines/pipeline_scene.h"
#include "tests/ranks/mailbox.h"
#include "tests/runtime/rank_scene.h"

namespace voxshard {
namespace {

using namespace test;
using Json = nlohmann::ordered_json;

BenchOptions bench_options(DType precision) {
  BenchOptions options{.extents = {2, 12, 8, 8}, .steps = 2};
  options.spec.as<UNetConfig>() = {.base_filters = 4, .depth = 3};
  options.spec.precision = precision;
  options.spec.cut.mesh = {.replicas = 2, .partition = {1, 3, 1, 1, 1}};
  return options;
}

/// Returns the report of each rank.
std::vector<Json> bench_over(int ranks, const BenchOptions& options) {
  Mailbox mailbox(ranks);
  std::vector<Json> reports(static_cast<std::size_t>(ranks));
  run_valid_ranks(mailbox, [&](Transport& transport) {
    NoProgress progress;
    reports[transport.rank()] = to_json(run_bench_step(options, {progress, {.transport = &transport}}));
  });
  return reports;
}

void expect_as_the_program_says(const Json& sums) {
  EXPECT_EQ(sums.at("messages"), sums.at("program_messages")) << sums;
  EXPECT_EQ(sums.at("bytes"), sums.at("program_bytes")) << sums;
  EXPECT_GE(sums.at("waited_seconds"), 0);
}

TEST(RanksOfABench, SendWhatTheProgramSaysToTheByte) {
  for (const DType precision : {DType::kF32, DType::kBF16}) {
    const auto reports = bench_over(4, bench_options(precision));
    for (std::size_t rank = 1; rank < 4; ++rank)
      EXPECT_FALSE(reports[rank].contains("ranks")) << "rank 0 speaks for all";
    const Json& traffic = reports[0].at("traffic");
    expect_as_the_program_says(traffic);
    EXPECT_GT(traffic.at("bytes"), 0);
    EXPECT_EQ(traffic.at("overlap"), true);
    std::int64_t bytes = 0, cores = 0;
    std::map<std::string, std::int64_t> by_op;
    for (const Json& row : traffic.at("by_instruction")) {
      expect_as_the_program_says(row);
      ASSERT_EQ(row.at("by_rank").size(), 4u);
      for (const Json& rank : row.at("by_rank")) expect_as_the_program_says(rank);
      by_op[row.at("op")] += row.at("bytes").get<std::int64_t>();
      bytes += row.at("bytes").get<std::int64_t>();
    }
    EXPECT_EQ(by_op.size(), 2u);
    EXPECT_GT(by_op["exchange"], 0);
    EXPECT_GT(by_op["all_reduce"], 0);
    EXPECT_EQ(bytes, traffic.at("bytes"));
    bytes = 0;
    for (const Json& rank : reports[0].at("ranks")) {
      expect_as_the_program_says(rank);
      EXPECT_GT(rank.at("step_seconds"), 0);
      EXPECT_GT(rank.at("memory").at("planned_bytes"), 0);
      bytes += rank.at("bytes").get<std::int64_t>();
      EXPECT_EQ(rank.at("first_core"), cores);
      cores += rank.at("cores").get<std::int64_t>();
    }
    EXPECT_EQ(bytes, traffic.at("bytes"));
    EXPECT_EQ(cores, 6);
  }
}

TEST(RanksOfABench, WithoutOverlapSendTheSame) {
  BenchOptions options = bench_options(DType::kF32);
  const auto with = bench_over(2, options);
  options.overlap = false;
  const auto without = bench_over(2, options);
  EXPECT_EQ(without[0].at("traffic").at("overlap"), false);
  EXPECT_EQ(without[0].at("traffic").at("bytes"), with[0].at("traffic").at("bytes"));
  EXPECT_EQ(without[0].at("loss"), with[0].at("loss"));
}

TEST(RanksOfABench, OneProcessHasNone) {
  NoProgress progress;
  const Json report = to_json(run_bench_step(bench_options(DType::kF32), progress));
  EXPECT_FALSE(report.contains("ranks"));
  EXPECT_FALSE(report.contains("traffic"));
}

struct Profile {
  Json json;
  std::vector<Json> of(const std::string& phase) const {
    std::vector<Json> found;
    for (const Json& event : json.at("traceEvents"))
      if (event.at("ph") == phase) found.push_back(event);
    return found;
  }
};

/// Returns the profile of one step over three ranks whose clocks begin a step apart.
Profile profile_of(const SceneOptions& options, const std::filesystem::path& file) {
  const RankScene scene = unet_scene(options);
  Mailbox mailbox(3);
  run_valid_ranks(mailbox, [&](Transport& transport) {
    WorkerPool pool(options.workers);
    const Graph graph = scene.build();
    const auto inputs = random_inputs(graph, scene.dtype, kRankSeed);
    Session session(
        op_table(),
        [&](const Shape&, Phase) { return lower(graph, op_table(), scene.cut, {.ranks = transport.place()}); }, pool,
        &transport);
    session.parameters() = random_parameters(graph, kRankSeed);
    CoreSet& cores = session.cores(scene.extents, Phase::kTrain);
    Trainer trainer(session, {}, cores.executable().program.graph, 3, kRankSeed);
    const auto feed = [&](const Node& input, const TensorView& box) { copy(inputs.at(input.name).view(), box); };
    std::optional<TraceFile> trace;
    for (int step = 0; step < 3; ++step) {
      if (step == transport.rank()) trace.emplace(TraceOptions{.file = file, .steps = 1}, options.workers, &transport);
      if (step == 2) {
        cores.set_trace(trace->recorder());
        trace->begin_step(cores.executable().program);
      }
      trainer.step(scene.extents, feed);
    }
    trace->end_step();
  });
  std::ifstream in(file);
  return {Json::parse(in)};
}

TEST(RankProfile, HasTheWorkersOfEveryRankInAProcessOfItsOwn) {
  const Scene scene("rank_profile");
  const Profile profile = profile_of({.partition = "1x4x1x1x1", .workers = 2}, scene.path("profile.json"));
  std::map<int, std::string> names;
  for (const Json& event : profile.of("M"))
    if (event.at("name") == "process_name") names[event.at("pid")] = event.at("args").at("name");
  EXPECT_EQ(names, (std::map<int, std::string>{{0, "rank 0"}, {1, "rank 1"}, {2, "rank 2"}}));
  std::map<int, std::set<int>> cores;
  std::set<std::string> kinds;
  for (const Json& event : profile.of("X")) {
    kinds.insert(event.at("cat"));
    if (event.at("cat") == "task" && event.at("args").contains("core"))
      cores[event.at("pid")].insert(event.at("args").at("core").get<int>());
  }
  EXPECT_EQ(cores, (std::map<int, std::set<int>>{{0, {0}}, {1, {1}}, {2, {2, 3}}}));
  for (const char* kind : {"task", "join", "exchange", "send", "receive", "wait", "step"})
    EXPECT_TRUE(kinds.contains(kind)) << kind;
  EXPECT_EQ(profile.json.at("otherData").at("other_ranks").size(), 2u);
  EXPECT_EQ(profile.json.at("otherData").at("dropped_events"), 0);
  EXPECT_TRUE(profile_file().is_ours(scene.path("profile.json")));
}

TEST(RankProfile, OnTheClockOfTheFirstRankMessagesAreSentBeforeTheyArrive) {
  const Scene scene("rank_clocks");
  const Profile profile = profile_of({.extents = {1, 16, 8, 8}, .partition = "1x8x1x1x1"}, scene.path("profile.json"));
  double round_trip_us = 0;
  for (const Json& rank : profile.json.at("otherData").at("other_ranks")) {
    EXPECT_GT(rank.at("clock_offset_seconds"), 0) << "its clock began later";
    round_trip_us = std::max(round_trip_us, 1e6 * rank.at("clock_round_trip_seconds").get<double>());
  }
  std::map<std::string, Json> sent;
  for (const Json& event : profile.of("s")) EXPECT_TRUE(sent.emplace(event.at("id"), event).second) << event;
  const auto arrived = profile.of("f");
  EXPECT_GT(arrived.size(), 10u);
  EXPECT_EQ(arrived.size(), sent.size());
  for (const Json& event : arrived) {
    ASSERT_TRUE(sent.contains(event.at("id"))) << event;
    const Json& begin = sent.at(event.at("id"));
    EXPECT_NE(begin.at("pid"), event.at("pid"));
    EXPECT_LE(begin.at("ts").get<double>(), event.at("ts").get<double>() + round_trip_us) << event;
  }
}

}  // namespace
}  // namespace voxshard
