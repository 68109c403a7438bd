// The steps that fit into a time, and the size of a model with which enough of them do.
#include "pipelines/training/time_budget.h"

#include <gmock/gmock.h>

#include "tests/expect_error.h"

namespace voxshard {
namespace {

TEST(TimeBudget, TimesHaveAUnit) {
  EXPECT_EQ(seconds_from_text("90s"), 90);
  EXPECT_EQ(seconds_from_text("30m"), 1800);
  EXPECT_EQ(seconds_from_text("1h"), 3600);
  for (const char* wrong : {"", "90", "1d", "-5m", "0s", "1.5h", "99999999999999999999h"})
    expect_error(ErrorKind::kUsage, "{time}", [&] { seconds_from_text(wrong); });
}

TEST(TimeBudget, StepsAndValidationsFit) {
  for (const double step_s : {0.01, 0.4, 7.0})
    for (const double validation_s : {0.0, 3.0, 50.0})
      for (const std::int64_t every : {0, 10}) {
        const std::int64_t steps =
            steps_in_time({.time_s = 600, .step_s = step_s, .validation_s = validation_s, .validate_every = every});
        const auto taken = [&](std::int64_t n) {  // one validation at the end, whatever is due then
          const std::int64_t validations = 1 + (every > 0 ? (n - 1) / every : 0);
          return static_cast<double>(n) * step_s + static_cast<double>(validations) * validation_s;
        };
        EXPECT_LE(taken(steps), 600) << step_s << " " << validation_s << " " << every;
        EXPECT_GT(taken(steps + (every > 0 ? every : 1)), 0.96 * 600 - validation_s);
      }
  EXPECT_EQ(steps_in_time({.time_s = 1, .step_s = 100}), 1);
}

TEST(TimeBudget, ATimeForLessThanAStepAndAValidationIsSaidToBeTooShort) {
  const std::string text = overrun_text({.time_s = 30, .step_s = 2, .validation_s = 40.3});
  EXPECT_THAT(text,
              testing::HasSubstr("one step and the validation at the end take about 42.3 s, and 30.0 s are left"));
  EXPECT_THAT(text, testing::HasSubstr("{fold} all"));
  EXPECT_THAT(overrun_text({.time_s = -1, .step_s = 2}),
              testing::AllOf(testing::HasSubstr("one step takes about 2.0 s, and 0.0 s are left"),
                             testing::Not(testing::HasSubstr("{fold}"))));
  EXPECT_EQ(overrun_text({.time_s = 42, .step_s = 2, .validation_s = 40}), "");
}

constexpr std::int64_t kWanted = 1500;

/// Tries sizes of 32, 24, 16 and 8 filters, where the work of a step grows with their square.
struct TriedSizes {
  double steps, predicted;  // of 32 filters, over the wanted ones: as measured, and as predicted
  std::int64_t most_in_memory = 32, wanted_of_32 = kWanted;
  std::vector<std::int64_t> set = {}, measured = {};

  SizeInTime choose() {
    static constexpr std::int64_t kFilters[] = {32, 24, 16, 8};
    const auto times = [](double steps_of_32, std::int64_t filters) {
      const double share = static_cast<double>(filters) / 32;
      return MeasuredTimes{.time_s = 3600, .step_s = 0.97 * 3600 * share * share / (steps_of_32 * kWanted)};
    };
    return size_in_time({.sizes = {{"32 filters", wanted_of_32},
                                   {"24 filters", kWanted},
                                   {"16 filters", kWanted},
                                   {"8 filters", kWanted}},
                         .predicted = [&](std::size_t size) { return times(predicted, kFilters[size]); },
                         .set = [&](std::size_t size) { set.push_back(kFilters[size]); },
                         .fits = [&] { return set.back() <= most_in_memory; },
                         .measured =
                             [&] {
                               measured.push_back(set.back());
                               return times(steps, set.back());
                             }});
  }
};

TEST(TimeBudget, TheLargestSizeWithWhichEnoughStepsFitIsChosen) {
  TriedSizes fast{.steps = 1.1, .predicted = 0.4}, slow{.steps = 0.4, .predicted = 0.4};
  EXPECT_EQ(fast.choose().size, 0u);
  EXPECT_THAT(fast.measured, testing::ElementsAre(32));
  const SizeInTime found = slow.choose();
  EXPECT_EQ(found.size, 2u) << "16 filters";
  EXPECT_THAT(slow.measured, testing::ElementsAre(32, 24, 16));
  EXPECT_GE(steps_in_time(found.times), kWanted);
  EXPECT_THAT(found.reason, testing::MatchesRegex("[0-9]+ steps fit into \\{time\\}, at least [0-9]+ are wanted; 32 "
                                                  "filters: [0-9]+ steps; 24 filters: [0-9]+ steps"));
}

TEST(TimeBudget, EachSizeWantsItsOwnSteps) {
  TriedSizes fast{.steps = 1.1, .predicted = 1.1, .wanted_of_32 = 2 * kWanted};
  const SizeInTime found = fast.choose();
  EXPECT_EQ(found.size, 1u) << "24 filters";
  EXPECT_THAT(found.reason, testing::HasSubstr("at least " + std::to_string(kWanted) + " are wanted"));
  fast.wanted_of_32 = kWanted + kWanted / 20;
  EXPECT_EQ(fast.choose().size, 0u);
}

TEST(TimeBudget, SizesThatCannotDoAreNotMeasured) {
  TriedSizes hopeless{.steps = 0.2, .predicted = 0.2};
  const SizeInTime found = hopeless.choose();
  EXPECT_EQ(found.size, 3u);
  EXPECT_THAT(hopeless.measured, testing::ElementsAre(24, 16, 8)) << "a third of the steps is predicted of 24";
  EXPECT_THAT(found.reason, testing::ContainsRegex("; 32 filters: about [0-9]+ steps, not measured; 24 filters: "));

  TriedSizes large{.steps = 1.1, .predicted = 1.1, .most_in_memory = 16};
  EXPECT_THAT(large.choose().reason, testing::HasSubstr("; 32 filters: over the memory; 24 filters: over the memory"));
  EXPECT_THAT(large.measured, testing::ElementsAre(16));
}

TEST(TimeBudget, WhereNoSizeDoesTheSmallestIsChosen) {
  TriedSizes none{.steps = 0.01, .predicted = 0.01, .most_in_memory = 4};
  EXPECT_EQ(none.choose().size, 3u) << "the run says what it lacks";
  EXPECT_THAT(none.measured, testing::ElementsAre(8));
}

}  // namespace
}  // namespace voxshard
