#include "pipelines/tasks/memory_gate.h"

#include <gtest/gtest.h>

#include <atomic>

#include "libcore/base/parallel.h"

namespace voxshard {
namespace {

TEST(MemoryGate, WhatIsInsideTogetherFits) {
  for (const std::int64_t most : {10, 25, 100}) {
    MemoryGate gate(most);
    std::atomic<std::int64_t> held{0}, widest{0};
    WorkerPool pool(4);
    pool.run(200, [&](std::int64_t i, int) {
      const std::int64_t bytes = 1 + i % 10;
      const auto hold = gate.enter(bytes);
      const std::int64_t now = held += bytes;
      std::int64_t seen = widest;
      while (seen < now && !widest.compare_exchange_weak(seen, now)) {
      }
      held -= bytes;
    });
    EXPECT_LE(widest, most);
    EXPECT_EQ(held, 0);
  }
}

TEST(MemoryGate, WhatIsMoreThanAllGoesInAlone) {
  MemoryGate gate(10);
  std::atomic<int> inside{0}, together{0};
  WorkerPool pool(3);
  pool.run(30, [&](std::int64_t, int) {
    const auto hold = gate.enter(1000);
    if (++inside > 1) ++together;
    --inside;
  });
  EXPECT_EQ(together, 0);
}

}  // namespace
}  // namespace voxshard
