// The work of each host that unpacks samples, and its duration, computed by hand.
#include "libcore/device/tpu/feed_price.h"

#include "tests/device/tpu/tpu_scene.h"
#include "tests/partition/partition_scene.h"

namespace voxshard {
namespace {

using namespace test;

HostLoad load_of(const Placement& placement, const Feed& feed) {
  return host_load(Torus(tpu("tpu-v3"), placement), placement, feed);
}

TEST(Feed, OneHostUnpacksEverythingOnASliceOfEight) {
  const HostLoad load = load_of({.replicas = 8, .cores_per_replica = 1}, {.record_bytes = 800, .transfer_bytes = 80});
  EXPECT_EQ(load.feeding_hosts, 1);
  EXPECT_DOUBLE_EQ(load.record_bytes, 800);
  EXPECT_DOUBLE_EQ(load.network_bytes, 0);
  EXPECT_DOUBLE_EQ(load.chip_bytes, 20);
}

TEST(Feed, HostsShareReplicasThatFitThem) {
  const HostLoad load =
      load_of({.replicas = 16, .cores_per_replica = 8}, {.record_bytes = 1600, .transfer_bytes = 1600});
  EXPECT_EQ(load.feeding_hosts, 16);
  EXPECT_DOUBLE_EQ(load.record_bytes, 100);
  EXPECT_DOUBLE_EQ(load.network_bytes, 0);
}

TEST(Feed, OnlyTheHostOfLogicalCoreZeroFeedsAReplicaThatSpansHosts) {
  const HostLoad load =
      load_of({.replicas = 8, .cores_per_replica = 16}, {.record_bytes = 800, .transfer_bytes = 1600});
  EXPECT_EQ(load.feeding_hosts, 8);  // of 16
  EXPECT_DOUBLE_EQ(load.record_bytes, 100);
  EXPECT_DOUBLE_EQ(load.network_bytes, 100);  // half of the replica's 200 bytes goes to the other host
  EXPECT_DOUBLE_EQ(load.chip_bytes, 25);
}

TEST(Feed, TheSlowestOfUnpackingNetworkAndTransferCounts) {
  const TpuSpec toy = toy_device();  // 100 MB/s, 2 GB/s, 1 GB/s
  EXPECT_DOUBLE_EQ(feed_seconds(toy, {.record_bytes = 1e8, .network_bytes = 1e9, .chip_bytes = 1e8}), 1);
  EXPECT_DOUBLE_EQ(feed_seconds(toy, {.record_bytes = 1e6, .network_bytes = 6e9, .chip_bytes = 1e8}), 3);
  EXPECT_DOUBLE_EQ(feed_seconds(toy, {.record_bytes = 1e6, .network_bytes = 1e9, .chip_bytes = 2e9}), 2);
  EXPECT_EQ(feed_seconds(toy, {}), 0);
}

TEST(Feed, AStepWaitsForTheLongerOfCoresAndHosts) {
  const Program program = cut(conv_graph({8, 16, 16, 8}, 3), {1, 1, 1, 1}, 8);
  const StepPrice fed = price_step(program, op_table(), toy_device(), {.record_bytes = 1e8});
  EXPECT_DOUBLE_EQ(fed.feed_s, 1);
  EXPECT_DOUBLE_EQ(fed.step_s, 1);
  EXPECT_LT(fed.device_s, 1);
  const StepPrice computed = price_step(program, op_table(), toy_device(), {.record_bytes = 1});
  EXPECT_DOUBLE_EQ(computed.step_s, computed.device_s);
}

}  // namespace
}  // namespace voxshard
