// Plans of many sizes: as many as fit are kept, the most recently requested ones, and results do not depend on it.
#include <gtest/gtest.h>

#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <optional>

#include "tests/runtime/unet_scene.h"

namespace voxshard::test {
namespace {

Shape size_of(std::int64_t depth) { return {1, depth, 8, 8}; }

TEST(Session, PlansBeyondWhatIsKeptAreEvictedTheOneAskedForLongestAgoFirst) {
  UNetScene scene({});
  Session& session = scene.session;
  const std::int64_t one = session.bytes(size_of(8), Phase::kPredict).kept;
  EXPECT_GT(one, 0);
  session.keep_plans(3 * one);
  for (const std::int64_t depth : {8, 16, 8, 24, 32, 40}) {
    session.plan(size_of(depth), Phase::kPredict);
    EXPECT_LE(session.kept_plans(), 3u);
  }
  session.keep_plans(1);
  EXPECT_EQ(session.kept_plans(), 1u) << "the newest stays";
  EXPECT_EQ(session.bytes(size_of(8), Phase::kPredict).kept, one) << "what a plan takes is known when it is gone";
  EXPECT_EQ(session.kept_plans(), 1u) << "and is not planned again for it";
}

TEST(Session, ThePlanOfTheCoreSetStays) {
  UNetScene scene({});
  Session& session = scene.session;
  session.keep_plans(1);
  CoreSet& cores = session.cores(scene.extents, Phase::kPredict);
  for (const std::int64_t depth : {8, 16, 24}) session.plan(size_of(depth), Phase::kPredict);
  EXPECT_EQ(session.kept_plans(), 2u);
  EXPECT_EQ(&session.cores(scene.extents, Phase::kPredict), &cores);
  cores.feed(cores.executable().program.graph.find("image"),
             [&](const TensorView& box) { copy(scene.image.view(), box); });
  cores.run();
  session.release();
  session.keep_plans(1);
  EXPECT_EQ(session.kept_plans(), 1u);
}

/// True when a byte in the arena of the one core is not 0, which the system gives.
bool is_warm(const CoreSet& cores) {
  const Program& program = cores.executable().program;
  for (ValueId id = 0; id < program.graph.size(); ++id) {
    const Role role = program.graph.node(id).role;
    if (role == Role::kParameter || role == Role::kState || program.replicated(id)) continue;
    const TensorView held = cores.held(id, 0);
    if (held.data != nullptr &&
        std::any_of(held.data, held.data + held.bytes(), [](std::byte b) { return b != std::byte{}; }))
      return true;
  }
  return false;
}

void run_on_ones(CoreSet& cores) {
  cores.feed(cores.executable().program.graph.find("image"), [](const TensorView& box) {
    for (std::int64_t k = 0; k < box.box.count(); ++k) store(box, k, 1.0);
  });
  cores.run();
}

TEST(Session, ArenasGoOnFromSizeToSizeAndAreGivenBackByRelease) {
  UNetScene scene({.extents = {1, 32, 16, 16}});
  Session& session = scene.session;
  for (const std::int64_t depth : {32, 8, 16, 64}) {  // smaller, then within what it was, then larger
    CoreSet& cores = session.cores({1, depth, 16, 16}, Phase::kPredict);
    EXPECT_EQ(is_warm(cores), depth != 32) << "the pages of the size before are used again: " << depth;
    run_on_ones(cores);
  }
  session.release();
  EXPECT_FALSE(is_warm(session.cores({1, 64, 16, 16}, Phase::kPredict)));
}

TEST(WarmArena, KeepsThePagesThatItNeedsAndGivesBackTheOthers) {
  constexpr std::int64_t kBytes = 5 << 20, kLess = (1 << 20) + 100, kMore = 9 << 20;
  const auto fill = [](const Arena& arena) { std::fill_n(arena.at(0, arena.bytes()), arena.bytes(), std::byte{7}); };
  const auto written = [](const Arena& arena) {  // bytes from the first on
    const std::byte* begin = arena.at(0, arena.bytes());
    const std::byte* end = std::find(begin, begin + arena.bytes(), std::byte{0});
    EXPECT_TRUE(std::all_of(end, begin + arena.bytes(), [](std::byte b) { return b == std::byte{0}; }));
    return end - begin;
  };
  Arena first(kBytes);
  fill(first);
  const auto place = reinterpret_cast<std::uintptr_t>(first.at(0, 1)) % (2 << 20);
  Arena less(std::move(first), kLess);
  EXPECT_EQ(less.bytes(), kLess);
  EXPECT_EQ(less.high_water_bytes(), 0);
  EXPECT_EQ(written(less), kLess);
  Arena again(std::move(less), kBytes);
  EXPECT_GE(written(again), kLess);
  EXPECT_LT(written(again), kLess + (1 << 16)) << "the pages behind were given back";
  fill(again);
  Arena more(std::move(again), kMore);
  EXPECT_EQ(written(more), kBytes);
  EXPECT_EQ(reinterpret_cast<std::uintptr_t>(more.at(0, 1)) % (2 << 20), place) << "huge pages stay whole";
  fill(more);
  Arena none(std::move(more), 0);
  EXPECT_EQ(written(Arena(std::move(none), kLess)), 0);
  EXPECT_EQ(written(Arena(Arena(0), kLess)), 0);
}

/// Returns the bytes of addresses that the process has.
std::int64_t address_bytes() {
  std::int64_t pages = 0;
  std::ifstream("/proc/self/statm") >> pages;
  return pages * ::sysconf(_SC_PAGESIZE);
}

TEST(WarmArena, ALimitOfAddressesHoldsOneSizeAtATime) {
  constexpr std::int64_t kBytes = 64 << 20, kMore = 96 << 20;
  std::optional<Arena> first(std::in_place, kBytes), more, less;
  rlimit before{};
  ASSERT_EQ(::getrlimit(RLIMIT_AS, &before), 0);
  const std::int64_t there = address_bytes();
  rlimit limit = before;
  limit.rlim_cur = static_cast<rlim_t>(there + 64 * (std::int64_t{1} << 20));  // not for 64 and 96 MiB together
  ASSERT_EQ(::setrlimit(RLIMIT_AS, &limit), 0);
  EXPECT_NO_THROW(more.emplace(std::move(*first), kMore));
  ::setrlimit(RLIMIT_AS, &before);
  ASSERT_TRUE(more.has_value());
  *more->at(kMore - 1, 1) = std::byte{7};
  EXPECT_GE(address_bytes(), there + (kMore - kBytes) / 2);
  less.emplace(std::move(*more), 4096);
  EXPECT_LE(address_bytes(), there - kBytes / 2) << "a smaller one gives its addresses back";
  *less->at(0, 4096) = std::byte{7};
}

TEST(Session, WhatLiesInAWarmArenaChangesNoBit) {
  const auto logits = [](bool warm) {
    UNetScene scene({});
    if (warm) {
      CoreSet& before = scene.session.cores(size_of(24), Phase::kPredict);
      before.feed(before.executable().program.graph.find("image"), [](const TensorView& box) {
        for (std::int64_t k = 0; k < box.box.count(); ++k) store(box, k, std::nan(""));
      });
      before.run();
    }
    CoreSet& cores = scene.session.cores(scene.extents, Phase::kPredict);
    const Graph& graph = cores.executable().program.graph;
    cores.feed(graph.find("image"), [&](const TensorView& box) { copy(scene.image.view(), box); });
    cores.run();
    return cores.gather(graph.outputs.at("logits"));
  };
  EXPECT_TRUE(compare(logits(true).view(), logits(false).view()).bit_equal);
}

TEST(Session, APlanThatIsMadeAgainGivesTheSameBits) {
  const auto trained = [](std::int64_t most_bytes) {
    UNetScene scene({});
    scene.session.keep_plans(most_bytes);
    Trainer trainer = scene.trainer({}, 4);
    double loss = 0;
    for (int step = 0; step < 4; ++step) {
      loss = trainer.step(scene.extents, scene.feed()).loss;
      scene.session.release();
      scene.session.plan(size_of(8 + 8 * step), Phase::kPredict);
    }
    return loss;
  };
  EXPECT_EQ(trained(0), trained(1));
}

}  // namespace
}  // namespace voxshard::test
