#include "libcore/metrics/labelled_time.h"

#include <gmock/gmock.h>

#include <cmath>

#include "libcore/base/rng.h"

namespace voxshard {
namespace {

using testing::ElementsAre;

TEST(LabelledTime, SecondsAreThoseCountedByHand) {
  const std::vector<LabelledTime> found = {{0, 4, 0}, {4, 8, 1}}, truth = {{0, 5, 0}, {6, 10, 1}};
  const auto confusion = time_confusion(found, truth, 2);
  EXPECT_THAT(confusion, ElementsAre(4, 1, 0, 0, 2, 2));
  const TimeScores scores = time_scores(confusion, 2);
  EXPECT_DOUBLE_EQ(scores.labelled_s, 9) << "the second between 5 and 6 has no label";
  EXPECT_DOUBLE_EQ(scores.found_s, 7);
  EXPECT_DOUBLE_EQ(scores.accuracy, 6.0 / 9) << "nothing said is not right";
  EXPECT_DOUBLE_EQ(scores.classes[0].recall, 0.8);
  EXPECT_DOUBLE_EQ(scores.classes[0].precision, 1);
  EXPECT_DOUBLE_EQ(scores.classes[1].precision, 2.0 / 3) << "the second from 4 to 5 is of the other class";
}

TEST(LabelledTime, ATimeLineAgainstItselfIsRight) {
  const std::vector<LabelledTime> line = {{0, 1, 2}, {1, 1, 0}, {3, 7.5, 1}};
  const TimeScores scores = time_scores(time_confusion(line, line, 3), 3);
  EXPECT_DOUBLE_EQ(scores.accuracy, 1);
  EXPECT_DOUBLE_EQ(scores.labelled_s, 5.5);
  EXPECT_TRUE(std::isnan(scores.classes[0].recall)) << "its only interval takes no time";
  EXPECT_TRUE(std::isnan(time_scores(time_confusion(line, {}, 3), 3).accuracy));
}

TEST(LabelledTime, SweepingIsCountingMilliseconds) {
  constexpr std::int64_t kClasses = 3, kEnd = 2000;
  for (std::uint64_t seed = 0; seed < 50; ++seed) {
    const RngKey key{.seed = seed, .stream = rng_stream("labelled_time")};
    std::uint64_t draw = 0;
    const auto line = [&] {
      std::vector<LabelledTime> line;
      for (std::int64_t at = 0; at < kEnd;) {
        const auto gap = static_cast<std::int64_t>(rng_bits(key, draw++) % 3) * 40;
        const auto length = static_cast<std::int64_t>(rng_bits(key, draw++) % 300);
        line.push_back({static_cast<double>(at + gap) / 1000, static_cast<double>(at + gap + length) / 1000,
                        static_cast<std::int64_t>(rng_bits(key, draw++) % kClasses)});
        at += gap + length;
      }
      return line;
    };
    const auto found = line(), truth = line();
    const auto at = [](const std::vector<LabelledTime>& of, double s) {
      for (const LabelledTime& t : of)
        if (t.begin_s <= s && s < t.end_s) return t.label;
      return kClasses;
    };
    std::vector<double> counted(static_cast<std::size_t>(kClasses * (kClasses + 1)), 0);
    for (std::int64_t ms = 0; ms < 2 * kEnd; ++ms) {
      const double s = (static_cast<double>(ms) + 0.5) / 1000;
      if (const auto label = at(truth, s); label < kClasses) counted[label * (kClasses + 1) + at(found, s)] += 0.001;
    }
    const auto swept = time_confusion(found, truth, kClasses);
    for (std::size_t i = 0; i < counted.size(); ++i) EXPECT_NEAR(swept[i], counted[i], 1e-9) << "seed " << seed;
  }
}

TEST(LabelledTime, LinesOutOfOrderAreDefects) {
  const std::vector<LabelledTime> twice = {{0, 4, 0}, {3, 8, 1}}, unknown = {{0, 1, 2}};
  EXPECT_ANY_THROW(time_confusion(twice, {}, 2));
  EXPECT_ANY_THROW(time_confusion({}, unknown, 2));
}

}  // namespace
}  // namespace voxshard
