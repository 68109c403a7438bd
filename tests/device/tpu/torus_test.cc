// Blocks of replicas, distances and hosts on the torus, by hand.
#include "libcore/device/tpu/torus.h"

#include <set>

#include "tests/device/tpu/tpu_scene.h"

namespace voxshard {

inline void PrintTo(const Place& p, std::ostream* out) {
  *out << "(" << p.x << ", " << p.y << ", core " << p.core << ")";
}
inline void PrintTo(const ReplicaBlock& b, std::ostream* out) {
  *out << b.chips_x << "x" << b.chips_y << "x" << b.cores;
}

namespace {

using namespace test;

TEST(Torus, BlocksAreThoseOfTheOriginalTable) {
  const std::vector<std::pair<std::int64_t, ReplicaBlock>> table = {{1, {1, 1, 1}},  {2, {1, 1, 2}},  {4, {1, 2, 2}},
                                                                    {8, {2, 2, 2}},  {16, {4, 2, 2}}, {32, {4, 4, 2}},
                                                                    {64, {8, 4, 2}}, {128, {8, 8, 2}}};
  for (const auto& [cores, block] : table) EXPECT_EQ(replica_block(cores, 2), block) << cores << " cores";
  EXPECT_EQ(replica_block(3, 2), (ReplicaBlock{1, 2, 2}));  // the next larger block
  EXPECT_EQ(replica_block(256, 2), (ReplicaBlock{16, 8, 2}));
  EXPECT_EQ(replica_block(4, 1), (ReplicaBlock{2, 2, 1}));
}

TEST(Torus, CoresCountFastestThenYThenXInsideABlock) {
  const Torus torus(tpu("tpu-v3"), {.replicas = 1, .cores_per_replica = 16});
  EXPECT_EQ(torus.slice().cores, 32);  // there is no slice of 16
  EXPECT_EQ(torus.place(0), (Place{0, 0, 0}));
  EXPECT_EQ(torus.place(1), (Place{0, 0, 1}));
  EXPECT_EQ(torus.place(2), (Place{0, 1, 0}));
  EXPECT_EQ(torus.place(4), (Place{1, 0, 0}));
  EXPECT_EQ(torus.place(15), (Place{3, 1, 1}));
}

TEST(Torus, ReplicasTakeBlockAfterBlock) {
  const Torus torus(tpu("tpu-v3"), {.replicas = 8, .cores_per_replica = 16});
  EXPECT_EQ(torus.slice().cores, 128);
  EXPECT_EQ(torus.place(16), (Place{4, 0, 0}));  // two blocks of 4 chips along x, then the next along y
  EXPECT_EQ(torus.place(32), (Place{0, 2, 0}));
  EXPECT_EQ(torus.place(7 * 16 + 15), (Place{7, 7, 1}));
  const Torus single(tpu("tpu-v3"), {.replicas = 8, .cores_per_replica = 1});
  EXPECT_EQ(single.place(1), (Place{0, 0, 1}));
  EXPECT_EQ(single.place(2), (Place{1, 0, 0}));
}

TEST(Torus, EveryCoreHasItsOwnPlaceInsideTheSlice) {
  for (const auto& [replicas, cores] : std::vector<std::pair<std::int64_t, std::int64_t>>{
           {1, 1}, {8, 1}, {4, 2}, {3, 3}, {5, 6}, {8, 8}, {2, 64}, {8, 16}, {1, 128}, {128, 1}, {16, 128}}) {
    const Torus torus(tpu("tpu-v3"), {.replicas = replicas, .cores_per_replica = cores});
    ASSERT_EQ(torus.cores(), replicas * cores);
    std::set<std::tuple<std::int64_t, std::int64_t, std::int64_t>> places;
    for (std::int64_t core = 0; core < torus.cores(); ++core) {
      const Place& p = torus.place(core);
      EXPECT_TRUE(p.x < torus.slice().chips_x && p.y < torus.slice().chips_y && p.core < 2) << core;
      places.insert({p.x, p.y, p.core});
      EXPECT_LT(torus.host(core), torus.hosts());
    }
    EXPECT_EQ(places.size(), static_cast<std::size_t>(torus.cores())) << replicas << " x " << cores;
  }
}

TEST(Torus, MoreCoresThanThePodAreRefused) {
  expect_config_error("tpu-v3 has no slice for 32 replicas of 128 cores; it has slices of 8, 32",
                      [] { Torus(tpu("tpu-v3"), {.replicas = 32, .cores_per_replica = 128}); });
  expect_config_error("no slice",
                      [] { Torus(toy_slice(2, 1, false, false), {.replicas = 1, .cores_per_replica = 8}); });
}

TEST(Torus, HopsWithoutWrapAreTheManhattanDistance) {
  const Torus torus(tpu("tpu-v3"), {.replicas = 1, .cores_per_replica = 128});  // 8 x 8 chips, 16 cores per column
  EXPECT_EQ(torus.hops(0, 1), 0);                                               // the same chip
  EXPECT_EQ(torus.hops(1, 2), 1);                                               // (0, 0) to (0, 1)
  EXPECT_EQ(torus.hops(15, 16), 8);                                             // (0, 7) to (1, 0)
  EXPECT_EQ(torus.hops(0, 127), 14);                                            // corner to corner
}

TEST(Torus, HopsGoTheShortWayRound) {
  const Torus ring(toy_slice(8, 8, true, true), {.replicas = 1, .cores_per_replica = 128});
  EXPECT_EQ(ring.hops(0, 127), 2);  // corner to corner: one back along x, one along y
  EXPECT_EQ(ring.hops(0, 14), 1);   // (0, 0) to (0, 7)
  EXPECT_EQ(ring.hops(0, 8), 4);    // (0, 4): as far both ways
  EXPECT_EQ(ring.hops(0, 10), 3);   // (0, 5)
  const Torus half(toy_slice(8, 8, true, false), {.replicas = 1, .cores_per_replica = 128});
  EXPECT_EQ(half.hops(0, 127), 8);  // only x wraps round
}

TEST(Torus, ARouteHasOneLinkPerHopAndEndsAtItsCore) {
  for (const bool wrap : {false, true}) {
    const Torus torus(toy_slice(4, 4, wrap, wrap), {.replicas = 1, .cores_per_replica = 32});
    for (std::int64_t a = 0; a < 32; ++a)
      for (std::int64_t b = 0; b < 32; ++b) {
        std::int64_t chip = torus.chip(a), count = 0;
        torus.route(a, b, [&](std::int64_t link) {
          EXPECT_EQ(link / 4, chip) << "a link leaves the chip where the route is";
          const std::int64_t x = chip % 4, y = chip / 4, d = link % 4;
          const std::int64_t nx = (x + (d == 0 ? 1 : d == 1 ? 3 : 0)) % 4, ny = (y + (d == 2 ? 1 : d == 3 ? 3 : 0)) % 4;
          chip = ny * 4 + nx;
          ++count;
        });
        EXPECT_EQ(chip, torus.chip(b));
        EXPECT_EQ(count, torus.hops(a, b));
        EXPECT_EQ(torus.hops(a, b), torus.hops(b, a));
      }
  }
}

TEST(Torus, AHostHoldsTwoByTwoChips) {
  const Torus torus(tpu("tpu-v3"), {.replicas = 8, .cores_per_replica = 16});
  EXPECT_EQ(torus.hosts(), 16);
  EXPECT_EQ(torus.host(0), 0);
  EXPECT_EQ(torus.host(7), 0);   // chip (1, 1)
  EXPECT_EQ(torus.host(8), 1);   // chip (2, 0)
  EXPECT_EQ(torus.host(16), 2);  // chip (4, 0)
  EXPECT_EQ(torus.host(32), 4);  // chip (0, 2)
  EXPECT_TRUE(torus.replica_spans_hosts());
  EXPECT_FALSE(Torus(tpu("tpu-v3"), {.replicas = 8, .cores_per_replica = 8}).replica_spans_hosts());
}

}  // namespace
}  // namespace voxshard
