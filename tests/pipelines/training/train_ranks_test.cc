// The messages between the ranks of a training: which rank reads files, which is asked to stop, what must be alike.
#include "pipelines/training/train_ranks.h"

#include <gmock/gmock.h>

#include <fstream>

#include "tests/pipelines/training_scene.h"
#include "tests/ranks/mailbox.h"

namespace voxshard {
namespace {

using test::Mailbox, test::run_ranks, test::run_valid_ranks;
using testing::HasSubstr;

std::string text_of(const std::exception_ptr& error) {
  try {
    if (error) std::rethrow_exception(error);
  } catch (const Error& e) {
    return e.what();
  }
  return "no error";
}

TEST(RankTraining, WhatAnEarlierRunChoseIsWhatRank0Sees) {
  for (const bool there : {true, false}) {
    Mailbox mailbox(3);
    run_valid_ranks(mailbox, [&](Transport& transport) {
      const auto known = broadcast_known_choices(transport, [&]() -> std::optional<std::vector<Choice>> {
        EXPECT_EQ(transport.rank(), 0) << "the others do not look";
        if (!there) return std::nullopt;
        return std::vector<Choice>{{"batch", "4", "as usual"}};
      });
      EXPECT_EQ(known.has_value(), there);
      if (!known) return;
      ASSERT_EQ(known->size(), 1u);
      EXPECT_EQ(known->front().shown(), "4");
    });
  }
}

TEST(RankTraining, ARunThatChoseNothingIsNotTheSameAsNoRun) {
  Mailbox mailbox(2);
  run_valid_ranks(mailbox, [&](Transport& transport) {
    const auto known = broadcast_known_choices(transport, [] { return std::optional(std::vector<Choice>()); });
    ASSERT_TRUE(known.has_value());
    EXPECT_TRUE(known->empty());
  });
}

TEST(RankTraining, OtherCasesToValidateAreRefused) {
  const auto refused = [](const std::function<std::vector<Shape>(int rank)>& validates) {
    Mailbox mailbox(2);
    return text_of(run_ranks(mailbox, [&](Transport& transport) {
                     require_same_data(transport, {}, validates(transport.rank()));
                   }).front());
  };
  EXPECT_EQ(refused([](int) { return std::vector{Shape{1, 8, 8, 8}}; }), "no error");
  EXPECT_THAT(refused([](int rank) {
                return std::vector<Shape>(rank + 1, Shape{1, 8, 8, 8});
              }),
              HasSubstr("there the number of cases that validate is 2, here the number of cases that validate is 1"));
  EXPECT_THAT(refused([](int rank) {
                return std::vector{Shape{1, rank + 8, 8, 8}};
              }),
              HasSubstr("rank 1 differs from rank 0: there the sizes of the cases that validate (a hash) is "));
}

TEST(RankTraining, AStopOfOneRankStopsAllAndRank0SaysWhose) {
  Mailbox mailbox(3);
  std::atomic<int> stopped = 0;
  run_valid_ranks(mailbox, [&](Transport& transport) {
    RecordingProgress progress;
    EXPECT_NO_THROW(throw_if_any_stopped(transport, progress));
    progress.stop = transport.rank() == 2;
    try {
      throw_if_any_stopped(transport, progress);
    } catch (const Stopped&) {
      ++stopped;
    }
    EXPECT_THAT(progress.lines, testing::Contains(HasSubstr("rank 2 was asked to stop")));
  });
  EXPECT_EQ(stopped, 3);
}

TEST(RankTraining, AProfileHasTheWorkersOfEveryRank) {
  const TrainingScene scene("rank_trace");
  const std::filesystem::path file = scene.path("profile.json");
  Mailbox mailbox(2);
  run_valid_ranks(mailbox, [&](Transport& transport) {
    TrainOptions o = scene.options("run");
    o.steps = 3, o.resources.threads = 1, o.resources.transport = &transport, o.trace = {.file = file, .steps = 2};
    o.spec.cut.mesh.partition = Dims{1, 2, 1, 1, 1};
    NoProgress quiet;
    run_train(o, quiet);
  });
  std::ifstream in(file);
  const auto profile = nlohmann::json::parse(in);
  std::set<int> ranks;
  for (const auto& event : profile.at("traceEvents"))
    if (event.at("ph") == "X" && event.at("cat") == "task") ranks.insert(event.at("pid").get<int>());
  EXPECT_EQ(ranks, (std::set{0, 1}));
  EXPECT_EQ(profile.at("otherData").at("other_ranks").size(), 1u);
  EXPECT_EQ(profile.at("otherData").at("steps"), 2);
}

}  // namespace
}  // namespace voxshard
