// Rank 0 coordinates: an error that drops an input drops it on all ranks, one that ends the batch ends all ranks, and
// no rank waits for ever.
#include "pipelines/engine/core_runs.h"

#include "pipelines/engine/validation.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "tests/pipelines/engine/counted_voxels.h"

namespace voxshard {
namespace {

using namespace test;

TEST(CoreRuns, OtherRanksTakePartUntilTheEnd) {
  for (const int ranks : {1, 2, 3, 4})
    over_ranks(ranks, small_unet({1, 2, 2, 1, 1}), [&](Session& session) {
      int bodies = 0;
      coordinate(session, counting(), {}, [&] {
        ++bodies;
        const std::size_t classes = 3;
        EXPECT_EQ(counted(session, {1, 8, 8, 8}), 512 * classes);
        EXPECT_EQ(counted(session, {1, 16, 8, 4}), 512 * classes);
      });
      EXPECT_EQ(bodies, session.transport().rank() == 0 ? 1 : 0);
    });
}

TEST(CoreRuns, SeveralModelsTakeTurnsOnAllRanks) {
  for (const int ranks : {1, 2, 3}) {
    Mailbox mailbox(ranks);
    run_valid_ranks(mailbox, [&](Transport& transport) {
      WorkerPool pool(2);
      std::vector<std::unique_ptr<Session>> sessions;
      std::int64_t weights = 0;
      for (const std::int64_t classes : {2, 5}) {
        ModelSpec spec = small_unet({1, 2, 2, 1, 1});
        spec.set("classes", classes);
        sessions.push_back(std::make_unique<Session>(
            op_table(), lowering_of(spec, {}, {.workers = 2, .ranks = transport.place()}), pool, &transport));
        sessions.back()->parameters() =
            initialise(build_graph(spec, {1, 16, 16, 16}, Phase::kTrain, spec.precision), 5);
        weights += parameter_bytes(sessions.back()->parameters());
      }
      ModelSessions models({sessions[0].get(), sessions[1].get()});
      ProcessPlan most;
      const auto body = [&] {
        NoProgress progress;
        for (std::size_t model = 0; model < 2; ++model)
          models.planned(model) = plan_runs(models.session(model), {{1, 8, 8, 8}}, Phase::kPredict, "1 image",
                                            models.process_of(model, {}), progress);
        for (const std::size_t model : {0u, 1u, 1u, 0u})
          EXPECT_EQ(counted(models.session(model), {1, 8, 8, 8}), 512 * (model == 0 ? 2u : 5u));
      };
      coordinate(models, counting(), {}, body, &most);
      EXPECT_EQ(models.held()[MemoryPart::kWeights], weights) << "of rank " << transport.rank();
      EXPECT_GT(models.process_of(0, {}).beside_bytes, weights / 2);
      if (transport.rank() > 0) {
        EXPECT_GT(most[MemoryPart::kArenas], 0);
      }
    });
  }
}

/// Fixed scores, which need no session.
struct FixedScores : ValidationPass {
  FixedScores(double score, std::vector<double> by_class) : fixed{score, std::move(by_class)} {}
  CoreWork work() const override { return {}; }
  std::vector<PredictionTurn> turns() const override { return {}; }
  std::string name(std::size_t) const override { return ""; }
  std::vector<CaseFailure> validate(Session&, const PredictionTurn&) override { return {}; }
  Validation result() const override { return fixed; }
  std::string nothing_read() const override { return "cases"; }
  Validation fixed;
};

TEST(Validation, ScoresAreThoseOfRank0ToTheBit) {
  const double nan = std::numeric_limits<double>::quiet_NaN(), third = 1.0 / 3;
  over_ranks(3, small_unet({1, 2, 2, 1, 1}), [&](Session& session) {
    NoProgress quiet;
    FixedScores pass(session.transport().rank() == 0 ? third : 1, {nan, -0.0});
    const Validation scores = run_validation(
        session, pass, [](const CaseFailure&) {}, quiet);
    EXPECT_EQ(scores.score, third);
    ASSERT_EQ(scores.by_class.size(), 2u);
    EXPECT_TRUE(std::isnan(scores.by_class[0]) && std::signbit(scores.by_class[1]));
  });
}

TEST(CoreRuns, AStopOfRank0StopsAll) {
  Mailbox mailbox(3);
  std::atomic<int> stopped = 0;
  over_ranks(mailbox, small_unet({1, 2, 2, 1, 1}), [&](Session& session) {
    try {
      coordinate(session, counting(), {}, [&] {
        counted(session, {1, 8, 8, 8});
        throw Stopped();
      });
    } catch (const Stopped&) {
      ++stopped;
    }
  });
  EXPECT_EQ(stopped, 3);
}

TEST(CoreRuns, AStopOfAnyRankEndsTheNextRun) {
  std::atomic<bool> asked = false;
  over_ranks(3, small_unet({1, 2, 2, 1, 1}), [&](Session& session) {
    session.set_stop([&] { return session.transport().rank() == 2 && asked; });
    bool went_on = false;
    coordinate(session, counting(), {}, [&] {
      EXPECT_GT(counted(session, {1, 8, 8, 8}), 0u);
      asked = true;
      EXPECT_THROW(counted(session, {1, 8, 8, 8}), Stopped);
      EXPECT_THROW(counted(session, {1, 16, 8, 8}), Stopped) << "the others still take part";
      went_on = true;
    });
    EXPECT_EQ(went_on, session.transport().rank() == 0);
  });
}

TEST(CoreRuns, AStopOfAnyRankThatRank0PassesOnStopsAll) {
  std::atomic<int> stopped = 0;
  over_ranks(3, small_unet({1, 2, 2, 1, 1}), [&](Session& session) {
    session.set_stop([&] { return session.transport().rank() == 1; });
    try {
      coordinate(session, counting(), {}, [&] { counted(session, {1, 8, 8, 8}); });
    } catch (const Stopped&) {
      ++stopped;
    }
  });
  EXPECT_EQ(stopped, 3);
}

TEST(CoreRuns, AnErrorOfRank0EndsAllWithIt) {
  Mailbox mailbox(3);
  const auto errors = run_ranks(mailbox, [&](Transport& transport) {
    WorkerPool pool(1);
    Session session(op_table(), lowering_of(small_unet({1, 2, 2, 1, 1}), {}, {.ranks = transport.place()}), pool,
                    &transport);
    coordinate(session, counting(), {}, [&] { throw Error(ErrorKind::kNoCase, "none of them"); });
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

/// Runs `body` on three ranks, of which rank 1 has no memory for volumes of 16 planes, which is known only at run time.
void with_a_small_rank(const std::function<void(Session&)>& body) {
  Mailbox mailbox(3);
  run_valid_ranks(mailbox, [&](Transport& transport) {
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

TEST(CoreRuns, MemoryThatAnyRankIsRefusedCostsTheRunOnAll) {
  with_a_small_rank([](Session& session) {
    coordinate(session, counting(), {}, [&] {
      const auto failure = failure_of("large", {ErrorKind::kBudget}, [&] { counted(session, {1, 16, 8, 8}); });
      EXPECT_TRUE(failure.has_value());
      EXPECT_EQ(failure->code, kRefusedMemory);
      EXPECT_GT(counted(session, {1, 8, 8, 8}), 0u) << "the next one is predicted";
    });
  });
}

TEST(CoreRuns, ASizeThatAnyRankRefusesIsRefused) {
  with_a_small_rank([](Session& session) {
    coordinate(session, counting(), {}, [&] {
      NoProgress progress;
      const PlannedBytes planned =
          plan_runs(session, {{1, 8, 8, 8}, {1, 16, 8, 8}}, Phase::kPredict, "2 images", {}, progress);
      EXPECT_TRUE(planned.fits.contains({1, 8, 8, 8}) && !planned.fits.contains({1, 16, 8, 8}));
      const auto refused = planned.refused.find({1, 16, 8, 8});
      EXPECT_TRUE(refused != planned.refused.end());
      EXPECT_NE(std::string(refused->second.what()).find("rank 1: [memory] no room"), std::string::npos)
          << refused->second.what();
    });
  });
}

TEST(CoreRuns, AnErrorInTheMidstOfARunIsNoCases) {
  Mailbox mailbox(2);
  const auto errors = run_ranks(mailbox, [&](Transport& transport) {
    const ModelSpec spec = small_unet({1, 2, 2, 1, 1});
    WorkerPool pool(1);
    Session session(op_table(), lowering_of(spec, {}, {.ranks = transport.place()}), pool, &transport);
    session.parameters() = initialise(build_graph(spec, {1, 16, 16, 16}, Phase::kTrain, spec.precision), 5);
    coordinate(session, counting(), {}, [&] {
      failure_of("one", {ErrorKind::kInput}, [&] {
        run_cores(session, counting(), {.extents = {1, 8, 8, 8}, .note = "a note", .fill = [](const TensorView&) {
                                          throw Error(ErrorKind::kInput, "it vanished");
                                        }});
      });
      ADD_FAILURE() << "the batch went on";
    });
  });
  for (const std::exception_ptr& error : errors) EXPECT_TRUE(error);
}

}  // namespace
}  // namespace voxshard
