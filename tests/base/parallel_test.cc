// The worker pool: every task runs once, the failure that is reported does not depend on the workers, pools can be
// reused.
#include "libcore/base/parallel.h"

#include <gtest/gtest.h>

#include <atomic>
#include <barrier>
#include <numeric>
#include <stdexcept>
#include <string>
#include <vector>

namespace voxshard {
namespace {

class EveryPoolSize : public testing::TestWithParam<int> {};

TEST_P(EveryPoolSize, RunsEachTaskOnceOnAValidWorker) {
  WorkerPool pool(GetParam());
  EXPECT_EQ(pool.workers(), GetParam());
  for (std::int64_t tasks : {0, 1, 2, 7, 1000}) {
    std::vector<std::atomic<int>> times(static_cast<std::size_t>(tasks));
    std::atomic<int> strange_workers{0};
    pool.run(tasks, [&](std::int64_t task, int worker) {
      ++times[task];
      if (worker < 0 || worker >= pool.workers()) ++strange_workers;
    });
    for (std::size_t t = 0; t < times.size(); ++t) EXPECT_EQ(times[t].load(), 1) << "task " << t << " of " << tasks;
    EXPECT_EQ(strange_workers.load(), 0);
  }
}

TEST_P(EveryPoolSize, ReturnsOnlyWhenAllResultsAreVisible) {
  WorkerPool pool(GetParam());
  std::vector<std::int64_t> values(500);
  for (std::int64_t round = 0; round < 50; ++round) {
    pool.run(500, [&](std::int64_t task, int) { values[task] += task; });
    ASSERT_EQ(std::accumulate(values.begin(), values.end(), std::int64_t{0}), (round + 1) * 500 * 499 / 2);
  }
}

TEST_P(EveryPoolSize, ThrowsTheExceptionOfTheLowestFailingTask) {
  WorkerPool pool(GetParam());
  for (int round = 0; round < 20; ++round) {
    std::atomic<int> ran{0};
    try {
      pool.run(100, [&](std::int64_t task, int) {
        ++ran;
        if (task % 30 == 17) throw std::runtime_error("task " + std::to_string(task));
      });
      FAIL() << "nothing was thrown";
    } catch (const std::runtime_error& error) {
      EXPECT_STREQ(error.what(), "task 17");
    }
    EXPECT_EQ(ran.load(), 100) << "a failure does not keep other tasks from running";
  }
}

TEST_P(EveryPoolSize, WorksAfterAFailure) {
  WorkerPool pool(GetParam());
  EXPECT_THROW(pool.run(3, [](std::int64_t, int) { throw std::logic_error("x"); }), std::logic_error);
  std::atomic<int> ran{0};
  pool.run(3, [&](std::int64_t, int) { ++ran; });
  EXPECT_EQ(ran.load(), 3);
}

TEST_P(EveryPoolSize, RunOnAllRunsOnEveryWorkerAtTheSameTime) {
  WorkerPool pool(GetParam());
  std::vector<std::atomic<int>> times(static_cast<std::size_t>(GetParam()));
  std::barrier meeting(GetParam());  // would never open if one worker ran after another
  pool.run_on_all([&](int worker) {
    meeting.arrive_and_wait();
    ++times[worker];
  });
  for (const auto& count : times) EXPECT_EQ(count.load(), 1);
}

INSTANTIATE_TEST_SUITE_P(Workers, EveryPoolSize, testing::Values(1, 2, 3, 8));

TEST(HardwareWorkers, IsAtLeastOne) { EXPECT_GE(hardware_workers(), 1); }

}  // namespace
}  // namespace voxshard
