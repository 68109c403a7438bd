// The cases that a validation keeps for the page: those of a list that is sorted in the end.
#include "pipelines/engine/worst_and_best.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <stdexcept>
#include <string>

namespace voxshard {
namespace {

using testing::ElementsAre;

std::vector<std::string> kept_of(std::int64_t most, const std::vector<double>& badness) {
  WorstAndBest<std::string> kept;
  kept.keep(most);
  for (std::size_t i = 0; i < badness.size(); ++i) kept.add(badness[i], [&] { return std::to_string(i); });
  std::vector<std::string> names;
  for (const auto& one : kept.worst_first()) names.push_back(one.shown);
  return names;
}

TEST(WorstAndBest, AreTheWorstOnesAndTheBestInWhateverOrderTheyCome) {
  EXPECT_THAT(kept_of(3, {0.1, 0.9, 0.5, 0.2, 0.8}), ElementsAre("1", "4", "0"));
  EXPECT_THAT(kept_of(3, {0.9, 0.8, 0.5, 0.2, 0.1}), ElementsAre("0", "1", "4"));
  EXPECT_THAT(kept_of(3, {0.1, 0.2, 0.5, 0.8, 0.9}), ElementsAre("4", "3", "0"));
  EXPECT_THAT(kept_of(2, {0.5, 0.5, 0.5}), ElementsAre("0", "2")) << "of equal ones the first is the worst";
  EXPECT_THAT(kept_of(5, {0.1, 0.2}), ElementsAre("1", "0"));
}

TEST(WorstAndBest, OfOneCaseItIsTheWorst) {
  EXPECT_THAT(kept_of(1, {0.1, 0.9, 0.5}), ElementsAre("1"));
  EXPECT_THAT(kept_of(1, {0.9, 0.1}), ElementsAre("0"));
}

TEST(WorstAndBest, NothingIsMadeThatIsNotKept) {
  WorstAndBest<int> kept;
  kept.add(1, []() -> int { throw std::logic_error("made"); });
  EXPECT_TRUE(kept.worst_first().empty());
  kept.keep(2);
  for (const double badness : {1.0, 0.0}) kept.add(badness, [] { return 1; });
  kept.add(0.5, []() -> int { throw std::logic_error("made"); });
}

}  // namespace
}  // namespace voxshard
