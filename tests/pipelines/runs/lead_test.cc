// Rank 0 leads: what costs an input costs it on all ranks, what ends the batch ends all, and nobody waits for ever.
#include "pipelines/runs/lead.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "tests/pipelines/rank_sessions.h"

namespace voxshard {
namespace {

using namespace test;

/// The number of voxels that a core owns of the logits.
RankWork counting() {
  return {.pack = [](const nlohmann::json& note, const CoreSet& cores, std::size_t core) {
    EXPECT_EQ(note, "a note");
    const auto voxels =
        static_cast<std::size_t>(cores.owned(cores.executable().program.graph.outputs.at("logits"), core).box.count());
    return std::vector<std::byte>(voxels);
  }};
}

std::size_t counted(Session& session, const Shape& extents) {
  std::atomic<std::size_t> all = 0;
  run_led(session, counting(),
          {.extents = extents,
           .note = "a note",
           .fill = fill_with_places,
           .take = [&](std::size_t, std::span<const std::byte> bytes) { all += bytes.size(); }});
  return all;
}

TEST(Lead, OthersFollowUntilTheEndAndGetTheResult) {
  for (const int ranks : {1, 2, 3, 4})
    over_ranks(ranks, small_unet({1, 2, 2, 1, 1}), [&](Session& session) {
      const std::string result = lead(session, counting(), {}, [&] {
        EXPECT_EQ(session.transport().rank(), 0);
        const std::size_t classes = 3;
        EXPECT_EQ(counted(session, {1, 8, 8, 8}), 512 * classes);
        EXPECT_EQ(counted(session, {1, 16, 8, 4}), 512 * classes);
        return std::string("done\0x", 6);
      });
      EXPECT_EQ(result, std::string("done\0x", 6));
    });
}

TEST(Lead, NumbersAreThoseOfRank0ToTheBit) {
  const double nan = std::numeric_limits<double>::quiet_NaN(), third = 1.0 / 3;
  over_ranks(3, small_unet({1, 2, 2, 1, 1}), [&](Session& session) {
    const auto numbers = lead_numbers(session, {}, [&] { return std::vector<double>{third, nan, -0.0}; });
    ASSERT_EQ(numbers.size(), 3u);
    EXPECT_EQ(numbers[0], third);
    EXPECT_TRUE(std::isnan(numbers[1]) && std::signbit(numbers[2]));
  });
}

TEST(Lead, AStopOfRank0StopsAll) {
  Mailbox mailbox(3);
  std::atomic<int> stopped = 0;
  over_ranks(mailbox, small_unet({1, 2, 2, 1, 1}), [&](Session& session) {
    try {
      lead(session, counting(), {}, [&]() -> std::string {
        counted(session, {1, 8, 8, 8});
        throw Stopped();
      });
    } catch (const Stopped&) {
      ++stopped;
    }
  });
  EXPECT_EQ(stopped, 3);
}

TEST(Lead, AStopOfAnyRankIsHeardBeforeTheNextRun) {
  std::atomic<bool> asked = false;
  over_ranks(3, small_unet({1, 2, 2, 1, 1}), [&](Session& session) {
    session.set_stop([&] { return session.transport().rank() == 2 && asked; });
    const std::string result = lead(session, counting(), {}, [&] {
      EXPECT_GT(counted(session, {1, 8, 8, 8}), 0u);
      asked = true;
      EXPECT_THROW(counted(session, {1, 8, 8, 8}), Stopped);
      EXPECT_THROW(counted(session, {1, 16, 8, 8}), Stopped) << "the others still follow";
      return std::string("what was whole before");
    });
    EXPECT_EQ(result, "what was whole before");
  });
}

TEST(Lead, AStopOfAnyRankThatRank0PassesOnStopsAll) {
  std::atomic<int> stopped = 0;
  over_ranks(3, small_unet({1, 2, 2, 1, 1}), [&](Session& session) {
    session.set_stop([&] { return session.transport().rank() == 1; });
    try {
      lead_numbers(session, counting(), [&] { return std::vector<double>{double(counted(session, {1, 8, 8, 8}))}; });
    } catch (const Stopped&) {
      ++stopped;
    }
  });
  EXPECT_EQ(stopped, 3);
}

TEST(Lead, AnErrorOfRank0EndsAllWithIt) {
  Mailbox mailbox(3);
  const auto errors = run_ranks(mailbox, [&](Transport& transport) {
    WorkerPool pool(1);
    Session session(op_table(), lowering_of(small_unet({1, 2, 2, 1, 1}), {}, {.ranks = transport.place()}), pool,
                    &transport);
    lead(session, counting(), {}, [&]() -> std::string { throw Error(ErrorKind::kNoCase, "none of them"); });
  });
  for (const std::exception_ptr& error : errors) {
    ASSERT_TRUE(error);
    try {
      std::rethrow_exception(error);
    } catch (const Error& e) {
      EXPECT_EQ(e.kind(), ErrorKind::kNoCase) << e.what();
    }
  }
}

/// Sessions of which rank 1 has no memory for volumes of 16 planes, known only when it runs.
void with_a_small_rank(const std::function<void(Session&)>& body) {
  Mailbox mailbox(3);
  run_sound_ranks(mailbox, [&](Transport& transport) {
    const ModelSpec spec = small_unet({1, 2, 2, 1, 1});
    const Session::Lower sound = lowering_of(spec, {}, {.ranks = transport.place()});
    const Session::Lower lower = [&](const Shape& extents, Phase phase) {
      if (transport.rank() == 1 && extents[1] == 16)
        throw Error(ErrorKind::kBudget, "E_BUDGET", "[memory] no room for 16 planes");
      return sound(extents, phase);
    };
    WorkerPool pool(1);
    Session session(op_table(), lower, pool, &transport);
    session.parameters() = initialise(build_graph(spec, {1, 16, 16, 16}, Phase::kTrain, spec.precision), 5);
    body(session);
  });
}

TEST(Lead, MemoryThatAnyRankIsRefusedCostsTheRunOnAll) {
  with_a_small_rank([](Session& session) {
    lead(session, counting(), {}, [&] {
      const auto failure = failure_of("large", {ErrorKind::kBudget}, [&] { counted(session, {1, 16, 8, 8}); });
      EXPECT_TRUE(failure.has_value());
      EXPECT_EQ(failure->code, kRefusedMemory);
      EXPECT_GT(counted(session, {1, 8, 8, 8}), 0u) << "the next one is predicted";
      return std::string();
    });
  });
}

TEST(Lead, ASizeThatAnyRankRefusesIsRefused) {
  with_a_small_rank([](Session& session) {
    lead(session, counting(), {}, [&] {
      NoProgress progress;
      const PlannedBytes planned = plan_predictions(session, {{1, 8, 8, 8}, {1, 16, 8, 8}}, "2 images", {}, progress);
      EXPECT_TRUE(planned.fits.contains({1, 8, 8, 8}) && !planned.fits.contains({1, 16, 8, 8}));
      const auto refused = planned.refused.find({1, 16, 8, 8});
      EXPECT_TRUE(refused != planned.refused.end());
      EXPECT_NE(std::string(refused->second.what()).find("rank 1: [memory] no room"), std::string::npos)
          << refused->second.what();
      return std::string();
    });
  });
}

TEST(Lead, AnErrorInTheMidstOfARunIsNoCases) {
  Mailbox mailbox(2);
  const auto errors = run_ranks(mailbox, [&](Transport& transport) {
    const ModelSpec spec = small_unet({1, 2, 2, 1, 1});
    WorkerPool pool(1);
    Session session(op_table(), lowering_of(spec, {}, {.ranks = transport.place()}), pool, &transport);
    session.parameters() = initialise(build_graph(spec, {1, 16, 16, 16}, Phase::kTrain, spec.precision), 5);
    lead(session, counting(), {}, [&] {
      failure_of("one", {ErrorKind::kInput}, [&] {
        run_led(session, counting(), {.extents = {1, 8, 8, 8}, .note = "a note", .fill = [](const TensorView&) {
                                        throw Error(ErrorKind::kInput, "it vanished");
                                      }});
      });
      ADD_FAILURE() << "the batch went on";
      return std::string();
    });
  });
  for (const std::exception_ptr& error : errors) EXPECT_TRUE(error);
}

}  // namespace
}  // namespace voxshard
