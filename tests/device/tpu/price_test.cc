// Prices of a step by hand: the matrix unit with its tile and strips, memory with its layouts, exchanges and
// all-reduces on the links. What a cut adds: passes_test.cc.
#include <numeric>

#include "libcore/device/tpu/compute_price.h"
#include "libcore/device/tpu/link_price.h"
#include "libcore/memory/tiles.h"
#include "tests/device/tpu/tpu_scene.h"
#include "tests/partition/partition_scene.h"

namespace voxshard {
namespace {

using namespace test;

constexpr double kDispatch = 1e-6, kHop = 2e-6, kLink = 10e9, kPath = 50e9, kMemory = 100e9;  // of the toy

Program toy_program(const Shape& image, const Dims& grid, std::int64_t replicas = 1) {
  Graph graph = conv_graph(image, 3);
  Builder b(graph, op_table());
  b.op("channel_sum", {graph.find("conv")}, {}, "sum");
  return cut(graph, grid, replicas);
}

InstructionPrice price_of(const StepPrice& step, const Program& program, InstructionKind kind,
                          const std::string& name) {
  return step.instructions.at(index_of(program, kind, name));
}

Copy copy_of(std::int64_t from, std::int64_t to, std::int64_t elements) {
  return {from, to, Box::whole({1, elements})};
}

TEST(Tiles, TheBestTwoAxesArePadded) {
  EXPECT_EQ(tiled_elements({4, 128, 128, 128, 32}), 4.0 * 128 * 128 * 128 * 32);  // W in the lanes, C in the sublanes
  EXPECT_EQ(tiled_elements({1, 5, 3}), 1.0 * 8 * 128);
  EXPECT_EQ(tiled_elements({16, 16, 16, 256}), 16.0 * 16 * 16 * 256);  // C in the lanes
  EXPECT_EQ(tiled_elements({2, 130, 64}),
            2.0 * 130 / 130 * 256 * 64);  // 130 to 256 costs less than 64 to 128 and 130 to 136
  EXPECT_EQ(tiled_elements({3}), 128);
  EXPECT_EQ(tiled_elements({0, 8, 128}), 0);
}

TEST(Tiles, NeverLessThanTheTensorAndNeverLessForMore) {
  const std::vector<std::int64_t> sizes = {1, 2, 7, 8, 9, 63, 127, 128, 129, 200};
  for (auto a : sizes)
    for (auto b : sizes)
      for (auto c : sizes) {
        const double here = tiled_elements({a, b, c});
        EXPECT_GE(here, static_cast<double>(a * b * c));
        for (const Dims& more : {Dims{a + 1, b, c}, Dims{a, b + 1, c}, Dims{a, b, c + 1}})
          EXPECT_GE(tiled_elements(more), here) << to_string(more);
      }
}

TEST(ComputePrice, ProductsArePaddedToTheTile) {
  const TpuSpec toy = toy_device();  // 1 GHz, one unit: a row of a tile per nanosecond; strips of 512 rows
  EXPECT_DOUBLE_EQ(matrix_seconds(toy, {.count = 27, .rows = 1000, .inner = 128, .columns = 128}),
                   27 * (1000 + 2 * 128) * 1e-9);
  EXPECT_DOUBLE_EQ(matrix_seconds(toy, {.count = 27, .rows = 1000, .inner = 32, .columns = 64}),
                   27 * (1000 + 2 * 128) * 1e-9);
  EXPECT_DOUBLE_EQ(matrix_seconds(toy, {.count = 1, .rows = 1000, .inner = 129, .columns = 384}),
                   2 * 3 * (1000 + 2 * 128) * 1e-9);
  EXPECT_DOUBLE_EQ(matrix_seconds(toy, {.count = 1, .rows = 1, .inner = 1, .columns = 1}), (8 + 128) * 1e-9);
  EXPECT_EQ(matrix_seconds(toy, {}), 0);
  TpuSpec v3 = tpu("tpu-v3");
  v3.strip_rows = 1 << 30;  // full tiles that stay reach the peak
  const double flops = 2.0 * (1 << 20) * 256 * 256;
  EXPECT_NEAR(matrix_seconds(v3, {.count = 1, .rows = 1 << 20, .inner = 256, .columns = 256}) / (flops / 61.6e12), 1,
              1e-3);
}

TEST(ComputePrice, ATileIsLoadedForEachStrip) {
  TpuSpec toy = toy_device();
  const auto ticks = [&](double rows) {
    return matrix_seconds(toy, {.count = 1, .rows = rows, .inner = 128, .columns = 8192}) * 1e9 / 64;
  };
  EXPECT_DOUBLE_EQ(ticks(512), 512 + 128);
  EXPECT_DOUBLE_EQ(ticks(513), 520 + 2 * 128);
  toy.strip_rows = 1024;
  EXPECT_DOUBLE_EQ(ticks(513), 520 + 128) << "longer strips load less";
  toy.strip_rows = 0;
  EXPECT_DOUBLE_EQ(ticks(8192), 8192 + 128) << "no limit: loaded once";
}

TEST(ComputePrice, TheCheaperOperandIsInTheTiles) {
  const TpuSpec toy = toy_device();
  // The gradient of weights, 32 x voxels x 64: 32 rows through voxels / 128 tiles; or the other way about.
  const Products p{.count = 1, .rows = 512, .inner = 1280, .columns = 8},
      swapped{.count = 1, .rows = 8, .inner = 1280, .columns = 512};
  EXPECT_DOUBLE_EQ(matrix_seconds(toy, p), matrix_seconds(toy, swapped));
  EXPECT_DOUBLE_EQ(matrix_seconds(toy, p), 10 * 4 * (8 + 128) * 1e-9);  // not 10 * (512 + 128)
}

TEST(ComputePrice, SamplesThatPadTheSublanesAreMultipliedWhereTheDeviceSaysSo) {
  TpuSpec padding = toy_device();
  padding.samples_pad_products = true;
  for (const auto& [samples, times] : {std::pair{4, 2.0}, {8, 1.0}, {16, 1.0}, {12, 16.0 / 12}}) {
    // 16 x 16 x samples voxels lie in the tiles, 128 to each, and the 2 filters go through.
    const Program program = toy_program({samples, 16, 16, 128}, {1, 1, 1, 1});
    const double padded = price_step(program, op_table(), padding, {}).busy.matrix_s,
                 spared = price_step(program, op_table(), toy_device(), {}).busy.matrix_s;
    EXPECT_NEAR(padded / spared, times, 1e-9) << samples;
  }
}

TEST(ComputePrice, MoreWorkIsNeverCheaper) {
  const TpuSpec toy = toy_device();
  for (double n : {1.0, 8.0, 100.0, 127.0, 128.0, 129.0}) {
    const Products p{.count = 9, .rows = n, .inner = n, .columns = n};
    for (const Products& more :
         {Products{10, n, n, n}, Products{9, n + 1, n, n}, Products{9, n, n + 1, n}, Products{9, n, n, n + 1}})
      EXPECT_GE(matrix_seconds(toy, more), matrix_seconds(toy, p));
  }
}

TEST(ComputePrice, AConvolutionByHand) {
  const Program program = toy_program({1, 16, 128, 64}, {1, 1, 1, 1});
  const StepPrice step = price_step(program, op_table(), toy_device(), {});
  const Price conv = price_of(step, program, InstructionKind::kCompute, "conv").slowest;
  // 64 channels fill half the rows of a tile, 2 filters hardly any; so it is the voxels that lie in 16 tiles, and the
  // filters that go through, 8 rows at least.
  EXPECT_NEAR(conv.matrix_s, 9 * 16 * (8 + 128) * 1e-9, 1e-15);
  // x 16 x 128 x 64 from the host, without the zeros around it: W in the lanes, C in the sublanes; weights 3 x 3 x 64 x
  // 2: 64 to 128 lanes, 3 to 8 sublanes; y 16 x 128 x 2: one sample in 8 sublanes, its channels in 128 lanes.
  EXPECT_NEAR(conv.memory_s, 4.0 * (16 * 128 * 64 + 8 * 3 * 128 * 2 + 16 * 128 * 8 * 128) / kMemory, 1e-15);
  EXPECT_EQ(conv.vector_s, 0);
  EXPECT_DOUBLE_EQ(conv.overhead_s, kDispatch);
  EXPECT_DOUBLE_EQ(conv.seconds(), conv.memory_s + kDispatch);  // which hides the matrix unit
  const Price sum = price_of(step, program, InstructionKind::kCompute, "sum").slowest;
  EXPECT_DOUBLE_EQ(sum.vector_s, 16 * 128 * 2 / 1e12);
  EXPECT_EQ(sum.matrix_s, 0);
}

TEST(ComputePrice, TheSlowestCoreCounts) {
  // 5 planes over 2 cores: 3 and 2.
  const Program program = toy_program({1, 5, 128, 64}, {1, 2, 1, 1});
  const StepPrice step = price_step(program, op_table(), toy_device(), {});
  EXPECT_NEAR(price_of(step, program, InstructionKind::kCompute, "conv").slowest.matrix_s, 9 * 3 * (8 + 128) * 1e-9,
              1e-15);
}

TEST(ComputePrice, ReplicatedWorkCostsEveryCore) {
  Graph graph = conv_graph({8, 8, 8, 4}, 3);
  Builder b(graph, op_table());
  const ValueId w = graph.find("kernel");
  b.op("scale", {w}, ScaleAttrs{.by = 2}, "twice");
  const Program one = cut(graph, {1, 1, 1, 1}), eight = cut(graph, {1, 1, 1, 1}, 8);
  const auto seconds = [&](const Program& p) {
    return price_of(price_step(p, op_table(), toy_device(), {}), p, InstructionKind::kCompute, "twice")
        .slowest.seconds();
  };
  EXPECT_GT(seconds(one), 0);
  EXPECT_DOUBLE_EQ(seconds(eight), seconds(one));
}

TEST(ComputePrice, F64CountsAsF32) {
  EXPECT_EQ(device_bytes(DType::kF64), 4);
  EXPECT_EQ(device_bytes(DType::kBF16), 2);
}

TEST(ExchangePrice, BytesOverAHop) {
  const TpuSpec toy = toy_device();
  const Torus torus(toy, {.replicas = 1, .cores_per_replica = 16});  // 4 x 2 chips, 4 cores per column
  ExchangePricer pricer(toy, torus);
  const InstructionPrice price = pricer.price(std::vector{copy_of(0, 4, 10000)}, 4);
  EXPECT_DOUBLE_EQ(price.slowest.link_s, 40000 / kLink);
  EXPECT_DOUBLE_EQ(price.slowest.memory_s, 40000 / kMemory);
  EXPECT_DOUBLE_EQ(price.slowest.overhead_s, kDispatch + kHop);
  EXPECT_EQ(price.hops, 1);
  EXPECT_EQ(price.messages, 1);
  EXPECT_EQ(price.bytes, 40000);
}

TEST(ExchangePrice, CoresOfOneChipAreNearButNotFree) {
  const TpuSpec toy = toy_device();
  const Torus torus(toy, {.replicas = 1, .cores_per_replica = 16});
  ExchangePricer pricer(toy, torus);
  const InstructionPrice price = pricer.price(std::vector{copy_of(0, 1, 10000), copy_of(1, 0, 10000)}, 4);
  EXPECT_DOUBLE_EQ(price.slowest.link_s, 40000 / kPath);  // each way
  EXPECT_DOUBLE_EQ(price.slowest.overhead_s, kDispatch);
  EXPECT_DOUBLE_EQ(price.slowest.memory_s, 80000 / kMemory);  // a core reads what it sends and writes what it gets
  EXPECT_EQ(price.hops, 0);
}

TEST(ExchangePrice, CopiesShareTheBusiestLink) {
  const TpuSpec toy = toy_device();
  const Torus torus(toy, {.replicas = 1, .cores_per_replica = 16});
  ExchangePricer pricer(toy, torus);
  const auto both = pricer.price(std::vector{copy_of(0, 8, 1000), copy_of(4, 8, 500)}, 2);  // over (1, 0) to (2, 0)
  EXPECT_DOUBLE_EQ(both.slowest.link_s, 3000 / kLink);
  EXPECT_DOUBLE_EQ(both.slowest.overhead_s, kDispatch + 2 * kHop);
  const auto apart = pricer.price(std::vector{copy_of(0, 4, 1000), copy_of(8, 12, 500)}, 2);
  EXPECT_DOUBLE_EQ(apart.slowest.link_s, 2000 / kLink);
  const auto opposite = pricer.price(std::vector{copy_of(0, 4, 1000), copy_of(4, 0, 1000)}, 2).slowest;
  EXPECT_DOUBLE_EQ(opposite.link_s, 2000 / kLink) << "the directions of a link do not share";
}

TEST(ExchangePrice, HalosOfAProgram) {
  const Program program = toy_program({1, 16, 128, 64}, {1, 2, 1, 1});
  const StepPrice step = price_step(program, op_table(), toy_device(), {});
  const InstructionPrice halo = price_of(step, program, InstructionKind::kExchange, "image");
  const double row_bytes = 128 * 64 * 4;
  EXPECT_EQ(halo.bytes, 2 * row_bytes);
  EXPECT_EQ(halo.messages, 2);
  EXPECT_DOUBLE_EQ(halo.slowest.link_s, row_bytes / kPath);
  EXPECT_DOUBLE_EQ(step.halo_bytes, 2 * row_bytes);
  const Price fill = price_of(step, program, InstructionKind::kFillMargin, "image").slowest;
  EXPECT_DOUBLE_EQ(fill.memory_s, (10 * 130 - 9 * 128) * 64 * 4 / kMemory);  // held 10 x 130, of which 9 x 128 inside
}

std::vector<std::int64_t> first_cores(std::int64_t n) {
  std::vector<std::int64_t> cores(static_cast<std::size_t>(n));
  std::iota(cores.begin(), cores.end(), 0);
  return cores;
}

TEST(AllReducePrice, TwoByTwoChipsByHand) {
  const TpuSpec toy = toy_device();
  const Torus torus(toy, {.replicas = 8, .cores_per_replica = 1});
  const InstructionPrice price = all_reduce_price(toy, torus, first_cores(8), 1e6);
  EXPECT_NEAR(price.slowest.link_s, 1e6 / kPath + 1.5e6 / kLink, 1e-12);
  EXPECT_NEAR(price.slowest.overhead_s, kDispatch + 4 * kHop, 1e-12);
  EXPECT_DOUBLE_EQ(price.slowest.memory_s, 4e6 / kMemory);
  EXPECT_EQ(price.bytes, 14e6);
  EXPECT_EQ(all_reduce_price(toy, torus, first_cores(1), 1e6).slowest.seconds(), 0);
  EXPECT_NEAR(all_reduce_price(toy, torus, first_cores(2), 1e6).slowest.link_s, 1e6 / kPath, 1e-15);
}

TEST(AllReducePrice, ALineTakesTwiceTheTimeOfARing) {
  const Placement all{.replicas = 1, .cores_per_replica = 32};
  const TpuSpec ring = toy_slice(4, 4, true, true), line = toy_slice(4, 4, false, false);
  const auto closed = all_reduce_price(ring, Torus(ring, all), first_cores(32), 1e6).slowest;
  const auto open = all_reduce_price(line, Torus(line, all), first_cores(32), 1e6).slowest;
  const double on_chip = 1e6 / kPath;
  EXPECT_NEAR(open.link_s - on_chip, 2 * (closed.link_s - on_chip), 1e-12);
  EXPECT_NEAR(open.link_s - on_chip, 2.0 * 15 / 16 * 1e6 / kLink, 1e-12);  // 2 (n - 1) / n of 16 chips
  EXPECT_NEAR(open.overhead_s - kDispatch, 2 * (closed.overhead_s - kDispatch), 1e-12);
}

TEST(AllReducePrice, MoreCoresAndMoreBytesAreNeverCheaper) {
  const TpuSpec v3 = tpu("tpu-v3");
  double before = 0;
  for (std::int64_t cores : {1, 2, 4, 8, 16, 32, 64, 128}) {
    const Torus torus(v3, {.replicas = 1, .cores_per_replica = cores});
    const double now = all_reduce_price(v3, torus, first_cores(cores), 4e6).slowest.seconds();
    EXPECT_GE(now, before) << cores;
    EXPECT_GE(all_reduce_price(v3, torus, first_cores(cores), 5e6).slowest.seconds(), now) << cores;
    before = now;
  }
}

TEST(AllReducePrice, AJoinOfASumOverAllCores) {
  const Program program = toy_program({8, 8, 8, 4}, {1, 1, 1, 1}, 8);
  const TpuSpec toy = toy_device();
  const StepPrice step = price_step(program, op_table(), toy, {});
  const InstructionPrice join = price_of(step, program, InstructionKind::kJoin, "sum");
  const double bytes = 2 * 4;  // f32[2]
  EXPECT_NEAR(join.slowest.link_s, bytes / kPath + 1.5 * bytes / kLink, 1e-15);
  EXPECT_EQ(step.all_reduce_bytes, 14 * bytes);
}

TEST(AllReducePrice, SumsOfOneReplicaStayInsideIt) {
  Graph graph;
  Builder b(graph, op_table());
  const ValueId x = b.input("x", {DType::kF32, {2, 8, 4, 3}});
  b.op("moment_sums", {x}, NormAttrs{.groups = 2, .batch = 2}, "sums");  // one group per sample
  const Program program = cut(graph, {1, 2, 1, 1}, 2);                   // replica 0 on one chip, replica 1 on the next
  const StepPrice step = price_step(program, op_table(), toy_device(), {});
  const InstructionPrice join = price_of(step, program, InstructionKind::kJoin, "sums");
  const double bytes = 3 * 2 * 4;  // (1, C, 2) f64, f32 on a TPU
  EXPECT_DOUBLE_EQ(join.slowest.link_s, bytes / kPath) << "no link between chips";
  EXPECT_EQ(join.hops, 0);
  EXPECT_EQ(join.bytes, 2 * 2 * bytes) << "both replicas";
}

TEST(StepPrice, OneCoreHasNoCommunication) {
  const Program program = toy_program({1, 16, 128, 64}, {1, 1, 1, 1});
  const StepPrice step = price_step(program, op_table(), toy_device(), {});
  EXPECT_EQ(step.busy.link_s, 0);
  EXPECT_EQ(step.messages, 0);
  EXPECT_EQ(step.halo_bytes + step.all_reduce_bytes, 0);
}

TEST(StepPrice, InstructionsFollowEachOtherInLockStep) {
  const Program program = toy_program({4, 16, 16, 8}, {1, 2, 2, 1}, 2);
  const StepPrice step = price_step(program, op_table(), toy_device(), {});
  ASSERT_EQ(step.instructions.size(), program.instructions.size());
  double clock = 0;
  for (const InstructionPrice& price : step.instructions) {
    EXPECT_DOUBLE_EQ(price.begin_s, clock);
    EXPECT_NEAR(price.end_s - price.begin_s, price.slowest.seconds(), 1e-15);
    clock = price.end_s;
  }
  EXPECT_DOUBLE_EQ(step.device_s, clock);
  EXPECT_DOUBLE_EQ(step.step_s, step.device_s);
}

TEST(StepPrice, FasterPartsNeverMakeItSlower) {
  const Program program = toy_program({4, 32, 32, 8}, {1, 4, 2, 1}, 2);
  const double before = price_step(program, op_table(), toy_device(), {}).device_s;
  for (double TpuSpec::*rate : {&TpuSpec::clock_hz, &TpuSpec::vector_flops_s, &TpuSpec::memory_bytes_s,
                                &TpuSpec::link_bytes_s, &TpuSpec::core_path_bytes_s, &TpuSpec::pass_bytes_s}) {
    TpuSpec faster = toy_device();
    faster.*rate *= 2;
    EXPECT_LE(price_step(program, op_table(), faster, {}).device_s, before);
    TpuSpec slower = toy_device();
    slower.*rate /= 1e6;
    EXPECT_GT(price_step(program, op_table(), slower, {}).device_s, before) << "every part is priced";
  }
}

TEST(StepPrice, MoreCoresThanAnySliceAreRefused) {
  const Program program = toy_program({16, 8, 8, 4}, {1, 1, 1, 1}, 16);
  expect_config_error("has no slice for 16 replicas",
                      [&] { price_step(program, op_table(), toy_slice(2, 2, false, false), {}); });
}

}  // namespace
}  // namespace voxshard
