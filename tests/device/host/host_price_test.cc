// The predicted wall time of a step by hand: the schedule of a segment, barriers, and what each kind of work costs.
#include "libcore/device/host/host_price.h"

#include "libcore/device/host/host_schedule.h"
#include "libcore/lower/lower.h"
#include "libcore/models/unet.h"
#include "tests/device/host/host_scene.h"
#include "tests/partition/partition_scene.h"

namespace voxshard {
namespace {

using namespace test;

constexpr double kTolerance = 1e-12;

HostRates no_overheads(int threads) {
  HostRates rates = round_rates(threads);
  rates.task_s = rates.barrier_s = 0;
  return rates;
}

TEST(HostSchedule, WorkersShareTheTasksOfOneInstruction) {
  const HostRates rates = no_overheads(2);
  HostSchedule schedule(rates, 1);
  std::vector<InstructionPrice> prices(1);
  for (int i = 0; i < 3; ++i) schedule.add(0, 0, {1.0, true});
  EXPECT_NEAR(schedule.run(10, prices), 12, kTolerance);
  EXPECT_NEAR(prices[0].begin_s, 10, kTolerance);
  EXPECT_NEAR(prices[0].end_s, 12, kTolerance);
}

TEST(HostSchedule, ACoreWaitsForItsOwnTasksOnly) {
  // Core 0: one long task, then a short one. Core 1: two short ones. Two workers: core 1 never waits for core 0.
  const HostRates rates = no_overheads(2);
  HostSchedule schedule(rates, 2);
  std::vector<InstructionPrice> prices(2);
  schedule.add(0, 0, {3.0, true});
  schedule.add(0, 1, {1.0, true});
  schedule.add(1, 0, {1.0, true});
  schedule.add(1, 1, {1.0, true});
  EXPECT_NEAR(schedule.run(0, prices), 4, kTolerance);
  EXPECT_NEAR(prices[1].begin_s, 1, kTolerance) << "core 1 is at its second instruction while core 0 is at its first";
}

TEST(HostSchedule, TheLowestCoreGoesFirst) {
  const HostRates rates = no_overheads(1);
  HostSchedule schedule(rates, 2);
  std::vector<InstructionPrice> prices(4);
  schedule.add(1, 0, {1.0, true});
  schedule.add(1, 2, {1.0, true});
  schedule.add(0, 1, {1.0, true});
  schedule.add(0, 3, {1.0, true});
  EXPECT_NEAR(schedule.run(0, prices), 4, kTolerance);
  EXPECT_NEAR(prices[3].end_s, 2, kTolerance);
  EXPECT_NEAR(prices[0].begin_s, 2, kTolerance);
}

TEST(HostSchedule, AWorkerAloneIsFaster) {
  HostRates rates = no_overheads(2);
  rates.alone_compute = 1.25;
  rates.alone_memory = 2;
  std::vector<InstructionPrice> prices(1);
  HostSchedule schedule(rates, 1);
  schedule.add(0, 0, {1.0, false});
  EXPECT_NEAR(schedule.run(0, prices), 0.5, kTolerance);
  schedule.add(0, 0, {1.0, true});
  EXPECT_NEAR(schedule.run(0, prices), 0.8, kTolerance);
  schedule.add(0, 0, {1.0, false});
  schedule.add(0, 0, {1.0, false});
  EXPECT_NEAR(schedule.run(0, prices), 1.0, kTolerance) << "both work: as measured together";
}

TEST(HostSchedule, TasksAndBarriersCost) {
  const HostRates rates = round_rates(2);
  std::vector<InstructionPrice> prices(1);
  HostSchedule schedule(rates, 1);
  for (int i = 0; i < 4; ++i) schedule.add(0, 0, {1.0, true});
  EXPECT_NEAR(schedule.run(0, prices), 2 + kBarrier + 2 * kTask, kTolerance);
}

/// image 1 x 9 x 4 x 1 -> conv of 9 taps to 2 channels -> channel_sum over 3 cores.
Program small_program(std::int64_t cores) {
  Graph graph = conv_graph({1, 9, 4, 1}, 3);
  Builder b(graph, op_table());
  b.op("channel_sum", {graph.find("conv")}, {}, "sum");
  return cut(graph, {1, cores, 1, 1});
}

TEST(HostPrice, AStepByHand) {
  const Program program = small_program(3);
  const StepPrice price = price_host_step(program, op_table(), round_rates(1), {});
  const double pack = kBarrier + 9 * 1 * 2 * 4 / kBytes;
  const double fill = 152 / kBytes + 3 * kTask + kBarrier;
  const double exchange = 64 / kBytes + kBarrier;
  const double conv = 2.0 * 9 * 1 * 2 * 36 / kFlops, sum = 72 * 4 / kBytes;
  const double join = 3 * 2 / kBytes + kBarrier;
  const auto at = [&](InstructionKind kind, const std::string& name) {
    return price.instructions[index_of(program, kind, name)];
  };
  EXPECT_NEAR(at(InstructionKind::kExchange, "image").slowest.seconds(), exchange, kTolerance);
  EXPECT_NEAR(at(InstructionKind::kExchange, "image").bytes, 64, kTolerance);
  EXPECT_NEAR(at(InstructionKind::kCompute, "conv").slowest.matrix_s, conv / 3, kTolerance);
  EXPECT_NEAR(at(InstructionKind::kJoin, "sum").slowest.seconds(), join, kTolerance);
  EXPECT_NEAR(price.device_s, pack + fill + exchange + kBarrier + conv + sum + 6 * kTask + join, kTolerance);
  EXPECT_NEAR(price.step_s, price.device_s, kTolerance);
  EXPECT_EQ(price.halo_bytes, 64);
}

TEST(HostPrice, FeedingTakesTheSameWorkers) {
  const Program program = small_program(1);
  const StepPrice dry = price_host_step(program, op_table(), round_rates(2), {});
  const StepPrice fed = price_host_step(program, op_table(), round_rates(2),
                                        {.record_bytes = 1e9, .transfer_bytes = 1e9, .input_bytes = 2e9});
  EXPECT_NEAR(fed.feed_s, 1 + kBarrier, kTolerance) << "of the feed only what is written here";
  EXPECT_NEAR(fed.step_s, dry.step_s + fed.feed_s, kTolerance);
}

Program unet_program(const Dims& grid) {
  const UNetConfig config{.base_filters = 4, .depth = 3};
  return partition(step_graph(build_unet(config, {.size = {16, 16, 16}}, op_table()), op_table(), Recompute::kNone),
                   op_table(), {.mesh = {.partition = grid}});
}

TEST(HostPrice, TheClockRunsForwardThroughEveryInstruction) {
  for (const Dims& grid : {Dims{1, 1, 1, 1, 1}, Dims{1, 2, 2, 1, 1}, Dims{1, 3, 1, 2, 1}}) {
    const Program program = unet_program(grid);
    const StepPrice price = price_host_step(program, op_table(), round_rates(2), {});
    ASSERT_EQ(price.instructions.size(), program.instructions.size());
    double latest = 0;
    for (std::size_t i = 0; i < program.instructions.size(); ++i) {
      const InstructionPrice& p = price.instructions[i];
      EXPECT_GE(p.end_s, p.begin_s) << i;
      EXPECT_LE(p.end_s, price.device_s) << i;
      const InstructionKind kind = program.instructions[i].kind;
      if (kind == InstructionKind::kJoin || kind == InstructionKind::kExchange) {
        EXPECT_GE(p.begin_s, latest) << i;
      }
      latest = std::max(latest, p.end_s);
    }
  }
}

TEST(HostPrice, MoreWorkersAreNotSlowerAndFasterRatesAreFaster) {
  const Program program = unet_program({1, 2, 2, 1, 1});
  double before = 1e9;
  for (int threads : {1, 2, 3, 4, 8}) {
    const double seconds = price_host_step(program, op_table(), round_rates(threads), {}).step_s;
    EXPECT_LE(seconds, before * (1 + kTolerance)) << threads;
    before = seconds;
  }
  HostRates faster = round_rates(8);
  for (RateTable& table : faster.tables) table.values = {2e9};
  EXPECT_LT(price_host_step(program, op_table(), faster, {}).step_s, before);
}

TEST(HostPrice, AnOpThatWasNotMeasuredIsRefusedByName) {
  HostRates rates = round_rates(1);
  std::erase_if(rates.tables, [](const RateTable& t) { return t.op == "channel_sum"; });
  try {
    price_host_step(small_program(1), op_table(), rates, {});
    ADD_FAILURE() << "nothing was refused";
  } catch (const Error& e) {
    EXPECT_EQ(e.kind(), ErrorKind::kConfig);
    EXPECT_STREQ(e.what(), "[device] this machine was measured without \"channel_sum\"; run voxshard doctor again");
  }
}

TEST(HostPrice, ASerialMachineTakesTheSumOfItsWork) {
  // One worker, nothing overlaps: the step is what the instructions take, plus packing and update.
  const Program program = unet_program({1, 1, 1, 1, 1});
  HostRates rates = no_overheads(1);
  const StepPrice price = price_host_step(program, op_table(), rates, {});
  double sum = 0;
  for (const InstructionPrice& p : price.instructions) sum += p.slowest.seconds();
  EXPECT_GT(price.device_s, sum);
  EXPECT_LT(price.device_s, sum + 1e-3);
}

}  // namespace
}  // namespace voxshard
