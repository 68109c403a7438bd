// The steps that fit into a time.
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

}  // namespace
}  // namespace voxshard
