// Writing behind: beside the caller, within the memory of the process, and what is said keeps its order.
#include "pipelines/engine/flow/write_behind.h"

#include <gtest/gtest.h>

#include <future>
#include <stdexcept>
#include <vector>

namespace voxshard {
namespace {

ProcessPlan results_of(std::int64_t bytes) { return {{MemoryPart::kResults, bytes}}; }

OutputBehind output_of(std::size_t number, std::int64_t need, std::int64_t next, std::function<void()> write) {
  return {.number = number,
          .need = results_of(need),
          .next = [next] { return results_of(next); },
          .write = std::move(write)};
}

TEST(WriteBehindTest, OutputsAreWrittenWhileTheCallerGoesOn) {
  WriteBehind behind(true, 0);
  std::promise<void> may_write;
  int writes = 0;
  EXPECT_FALSE(behind.take()) << "nothing is pending";
  ASSERT_TRUE(behind.start(output_of(3, 10, 1000, [&] { may_write.get_future().wait(), ++writes; })));
  EXPECT_TRUE(behind.is_pending(3));
  EXPECT_FALSE(behind.is_pending(4));
  EXPECT_EQ(behind.held(), results_of(10));
  may_write.set_value();
  const auto written = behind.take();
  ASSERT_TRUE(written);
  EXPECT_EQ(written->output.number, 3u);
  EXPECT_EQ(written->failure, nullptr);
  EXPECT_EQ(writes, 1);
  EXPECT_EQ(behind.held(), ProcessPlan());
  EXPECT_FALSE(behind.take()) << "it is taken once";
  EXPECT_EQ(behind.inputs(), 1u);
}

TEST(WriteBehindTest, BothPlansAreWithinTheMemoryOrItIsWrittenInTurn) {
  for (const std::int64_t need : {40, 41}) {
    WriteBehind behind(true, 100);
    EXPECT_EQ(behind.start(output_of(0, need, 60, [] {})), need == 40);
    EXPECT_EQ(behind.take().has_value(), need == 40);
    EXPECT_EQ(behind.over_budget(), need == 40 ? 0u : 1u);
  }
}

TEST(WriteBehindTest, WhatWritingThrowsIsGivenToWhoTakesIt) {
  WriteBehind behind(true, 0);
  const auto fails = [] { throw Error(ErrorKind::kOutput, "E_WRITE", "[output] full"); };
  ASSERT_TRUE(behind.start(output_of(0, 1, 1, fails)));
  const auto written = behind.take();
  ASSERT_TRUE(written && written->failure);
  EXPECT_THROW(std::rethrow_exception(written->failure), Error);
  ASSERT_TRUE(behind.start(output_of(1, 1, 1, [] {}))) << "the next is not to blame";
  EXPECT_EQ(behind.take()->failure, nullptr);
}

TEST(WriteBehindTest, WhereTheNextIsRefusedOrNothingComesOrItIsOffTheCallerWrites) {
  const auto writes = [] { FAIL(); };
  WriteBehind behind(true, 0);
  OutputBehind output = output_of(0, 1, 1, writes);
  output.next = []() -> ProcessPlan { throw Error(ErrorKind::kInput, "E_SIZE", "[input] too large"); };
  EXPECT_FALSE(behind.start(output));
  output.next = {};
  EXPECT_FALSE(behind.start(output));
  WriteBehind off(false, 0);
  EXPECT_FALSE(off.start(output_of(0, 1, 1, writes)));
  EXPECT_EQ(behind.over_budget() + off.over_budget() + behind.inputs() + off.inputs(), 0u);
}

TEST(WriteBehindTest, AnyErrorHasAText) {
  EXPECT_EQ(error_text(thrown_by([] { throw Error(ErrorKind::kOutput, "[output] full"); })), "[output] full");
  EXPECT_EQ(error_text(thrown_by([] { throw 1; })), "an error without a text");
}

/// A list of what was said.
struct Said : Progress {
  std::vector<std::string> lines;
  void update(std::string_view stage, std::int64_t, std::int64_t, std::string_view) override {
    lines.emplace_back(stage);
  }
  void log(std::string_view line) override { lines.emplace_back(line); }
  bool stop_requested() const override { return true; }
};

TEST(SettlingProgressTest, SettlesBeforeAnythingIsSaidByItsOwnThread) {
  Said said;
  SettlingProgress progress(said, [&] { said.lines.emplace_back("settled"); });
  EXPECT_TRUE(progress.stop_requested());
  EXPECT_TRUE(said.lines.empty()) << "to ask is to say nothing";
  progress.log("a"), progress.warn("b"), progress.update("c", 0, 1, "");
  std::async(std::launch::async, [&] { progress.log("d"); }).get();
  EXPECT_EQ(said.lines, (std::vector<std::string>{"settled", "a", "settled", "b", "settled", "c", "d"}));
}

}  // namespace
}  // namespace voxshard
