// Reading ahead: beside the caller, within the memory of the process, and without an error of its own.
#include "pipelines/engine/flow/read_ahead.h"

#include <gtest/gtest.h>

#include <future>
#include <stdexcept>
#include <thread>

namespace voxshard {
namespace {

ProcessPlan bytes_of(std::int64_t bytes) { return {{MemoryPart::kReading, bytes}}; }

/// An input of so many bytes. Its reading begins when `may_read` is set, and `has_read` is set behind it.
struct ScriptedInput {
  std::promise<void> may_read, has_read;
  int reads = 0, releases = 0;

  InputAhead ahead(std::size_t number, std::int64_t bytes) {
    return {.number = number,
            .plan = [bytes] { return bytes_of(bytes); },
            .read =
                [this](const StopCheck&) {
                  may_read.get_future().wait();
                  ++reads;
                  has_read.set_value();
                },
            .release = [this] { ++releases; }};
  }
};

TEST(ReadAheadTest, AnInputIsReadWhileTheCallerGoesOn) {
  ReadAhead ahead(true, 0);
  ScriptedInput input;
  ahead.start(input.ahead(1, 10), bytes_of(1000));
  EXPECT_FALSE(ahead.take(2)) << "another input";
  input.may_read.set_value();
  EXPECT_TRUE(ahead.take(1));
  EXPECT_EQ(input.reads, 1);
  EXPECT_EQ(input.releases, 0) << "it belongs to who took it";
  EXPECT_FALSE(ahead.take(1)) << "it is taken once";
  EXPECT_EQ(ahead.inputs(), 1u);
  EXPECT_EQ(ahead.widest(), bytes_of(1010));
}

TEST(ReadAheadTest, BothPlansAreWithinTheMemoryOrItIsReadInTurn) {
  for (const std::int64_t need : {40, 41}) {
    ReadAhead ahead(true, 100);
    ScriptedInput input;
    input.may_read.set_value();
    ahead.start(input.ahead(1, need), bytes_of(60));
    EXPECT_EQ(ahead.take(1), need == 40);
    EXPECT_EQ(input.reads, need == 40 ? 1 : 0);
    EXPECT_EQ(ahead.over_budget(), need == 40 ? 0u : 1u);
    EXPECT_EQ(ahead.widest().total(), need == 40 ? 100 : 0);
  }
}

TEST(ReadAheadTest, ErrorsAreLeftToTheTurn) {
  ReadAhead ahead(true, 0);
  int releases = 0;
  const auto release = [&] { ++releases; };
  const auto fails = [](const StopCheck&) { throw Error(ErrorKind::kInput, "E_READ", "[input] torn"); };
  ahead.start({.number = 1, .plan = [] { return bytes_of(1); }, .read = fails, .release = release}, {});
  EXPECT_FALSE(ahead.take(1));
  EXPECT_EQ(releases, 1);
  const auto refused = []() -> ProcessPlan { throw Error(ErrorKind::kInput, "E_SIZE", "[input] too large"); };
  ahead.start({.number = 2, .plan = refused, .read = [](const StopCheck&) { FAIL(); }, .release = release}, {});
  EXPECT_FALSE(ahead.take(2));
  EXPECT_EQ(ahead.inputs() + ahead.over_budget(), 0u);
}

TEST(ReadAheadTest, WhatIsDroppedIsToldSoAndReleased) {
  ReadAhead ahead(true, 0);
  std::promise<void> begun;
  bool stopped = false;
  int releases = 0;
  ahead.start({.number = 1,
               .plan = [] { return bytes_of(1); },
               .read =
                   [&](const StopCheck& dropped) {
                     begun.set_value();
                     while (!dropped()) std::this_thread::yield();
                     stopped = true;
                     throw Stopped();
                   },
               .release = [&] { ++releases; }},
              {});
  begun.get_future().wait();
  ahead.drop();
  EXPECT_TRUE(stopped);
  EXPECT_GE(releases, 1);
  EXPECT_FALSE(ahead.take(1));
}

TEST(ReadAheadTest, TheNextStartDropsWhatNobodyTook) {
  ReadAhead ahead(true, 0);
  ScriptedInput left_out, next;
  left_out.may_read.set_value(), next.may_read.set_value();
  ahead.start(left_out.ahead(1, 1), {});
  left_out.has_read.get_future().wait();
  ahead.start(next.ahead(2, 1), {});
  EXPECT_EQ(left_out.releases, 1);
  EXPECT_TRUE(ahead.take(2));
}

TEST(ReadAheadTest, GivesWayToWhatTheTurnTakesFurther) {
  ReadAhead ahead(true, 100);
  ScriptedInput input;
  input.may_read.set_value();
  ahead.start(input.ahead(1, 40), bytes_of(50));
  input.has_read.get_future().wait();
  ahead.give_way(bytes_of(1000), 1);  // its own turn: its plan counts what is read of it
  ahead.give_way(bytes_of(55), 0);
  EXPECT_EQ(ahead.widest().total(), 95);
  ahead.leave_room(bytes_of(60), 0);
  EXPECT_EQ(ahead.widest().total(), 95) << "the most that a step may take is no plan";
  ahead.give_way(bytes_of(60), 0);
  EXPECT_EQ(input.releases, 0);
  EXPECT_EQ(ahead.widest().total(), 100);
  ahead.give_way(bytes_of(61), 0);
  EXPECT_EQ(input.releases, 1);
  EXPECT_FALSE(ahead.take(1));
  EXPECT_EQ(ahead.widest().total(), 100);
}

TEST(ReadAheadTest, OffReadsNothing) {
  ReadAhead ahead(false, 0);
  ahead.start({.number = 1, .plan = []() -> ProcessPlan { throw std::logic_error("asked"); }}, {});
  EXPECT_FALSE(ahead.take(1));
}

}  // namespace
}  // namespace voxshard
