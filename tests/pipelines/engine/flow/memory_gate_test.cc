#include "pipelines/engine/flow/memory_gate.h"

#include <gtest/gtest.h>

#include <atomic>
#include <thread>

#include "libcore/base/parallel.h"

namespace voxshard {
namespace {

/// Yields, so that other workers enter if they may.
void linger() {
  for (int i = 0; i < 20; ++i) std::this_thread::yield();
}

TEST(MemoryGate, WhatIsInsideTogetherFits) {
  for (const std::int64_t most : {10, 15, 25}) {  // four workers would hold up to 40
    MemoryGate gate(most);
    std::atomic<std::int64_t> held{0}, widest{0};
    WorkerPool pool(4);
    pool.run(200, [&](std::int64_t i, int) {
      const std::int64_t bytes = 1 + i % 10;
      const auto hold = gate.enter({{MemoryPart::kReading, bytes}});
      const std::int64_t now = held += bytes;
      std::int64_t seen = widest;
      while (seen < now && !widest.compare_exchange_weak(seen, now)) {
      }
      linger();
      held -= bytes;
    });
    EXPECT_LE(widest, most);
    EXPECT_LE(gate.widest().total(), most);
    EXPECT_GE(gate.widest().total(), widest) << "what was inside at once was announced";
    EXPECT_EQ(held, 0);
  }
}

TEST(MemoryGate, WhatIsMoreThanAllGoesInAlone) {
  MemoryGate gate(10);
  std::atomic<int> inside{0}, together{0};
  WorkerPool pool(3);
  pool.run(30, [&](std::int64_t, int) {
    const auto hold = gate.enter({{MemoryPart::kReading, 1000}});
    if (++inside > 1) ++together;
    linger();
    --inside;
  });
  EXPECT_EQ(together, 0);
}

TEST(MemoryGate, WhatDoesNotFitWaitsUntilTheOtherHasLeft) {
  MemoryGate gate(10);
  std::atomic<bool> asks{false}, inside{false};
  std::thread other;
  {
    const auto hold = gate.enter({{MemoryPart::kReading, 6}});
    other = std::thread([&] {
      asks = true;
      const auto second = gate.enter({{MemoryPart::kReading, 5}});
      inside = true;
    });
    while (!asks) std::this_thread::yield();
    for (int i = 0; i < 1000; ++i) std::this_thread::yield();
    EXPECT_FALSE(inside);
  }
  other.join();
  EXPECT_TRUE(inside);
}

}  // namespace
}  // namespace voxshard
