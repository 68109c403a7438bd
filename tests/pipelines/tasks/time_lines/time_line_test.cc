// The time line of overlapping windows against the mean of each frame by itself.
#include "pipelines/tasks/time_lines/time_line.h"

#include <gmock/gmock.h>

#include "libcore/base/rng.h"
#include "libcore/metrics/classified.h"

namespace voxshard {
namespace {

using testing::DoubleNear;
using testing::ElementsAre;

TEST(TimeLine, OverlapsAreAveragedAndNeighboursMerged) {
  TimeLineMaker maker;
  maker.add({0, 32}, {0.9, 0.1}), maker.add({16, 48}, {0.3, 0.7});
  const TimeLine line = maker.finish();
  ASSERT_EQ(line.segments.size(), 3u);
  EXPECT_EQ(line.segments[1].frames, (FrameSpan{16, 32}));
  EXPECT_EQ(line.segments[1].label, 0);
  EXPECT_DOUBLE_EQ(line.segments[1].probability, 0.6);
  EXPECT_EQ(line.segments[2].label, 1);
  const auto intervals = merged(line.segments);
  ASSERT_EQ(intervals.size(), 2u);
  EXPECT_EQ(intervals[0].frames, (FrameSpan{0, 32}));
  EXPECT_DOUBLE_EQ(intervals[0].probability, 0.75);
  EXPECT_EQ(intervals[1].frames, (FrameSpan{32, 48}));
  EXPECT_THAT(line.mean, ElementsAre(DoubleNear(0.6, 1e-15), DoubleNear(0.4, 1e-15)));
}

TEST(TimeLine, AGapBelongsToNobody) {
  TimeLineMaker maker;
  maker.add({0, 4}, {1, 0}), maker.add({10, 14}, {1, 0});
  const TimeLine line = maker.finish();
  EXPECT_EQ(line.segments.size(), 2u);
  EXPECT_EQ(merged(line.segments).size(), 2u) << "of one class, but nothing is known of what lies between";
}

TEST(TimeLine, NothingAddedIsNothing) {
  TimeLineMaker maker;
  EXPECT_TRUE(maker.finish().segments.empty());
  EXPECT_TRUE(merged({}).empty());
  EXPECT_ANY_THROW(maker.add({3, 3}, {1, 0})) << "a window has frames";
}

TEST(TimeLine, EveryFrameHasTheMeanOfItsWindows) {
  for (std::uint64_t seed = 0; seed < 40; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    const RngKey key{.seed = seed, .stream = rng_stream("time_line")};
    std::uint64_t draw = 0;
    const auto upto = [&](std::uint64_t n) { return static_cast<std::int64_t>(rng_bits(key, draw++) % n); };
    const std::int64_t frames = 20 + upto(80);
    const ClipSteps steps{.length = 1 + upto(6), .stride = 1 + upto(3), .hop = 1 + upto(20)};
    const ClipWindows windows(frames, steps);
    TimeLineMaker maker;
    std::vector<std::vector<double>> sums(static_cast<std::size_t>(frames), std::vector<double>(3, 0));
    std::vector<int> counts(static_cast<std::size_t>(frames), 0);
    for (std::int64_t w = 0; w < windows.count(); ++w) {
      if (upto(5) == 0) continue;  // could not be predicted
      std::vector<double> p{0, 0, 0};
      for (double& v : p) v = static_cast<double>(upto(16)) / 16;  // sums of these are exact
      maker.add(windows.frames(w), p);
      for (std::int64_t f = windows.frames(w).begin; f < windows.frames(w).end; ++f) {
        for (std::size_t c = 0; c < 3; ++c) sums[f][c] += p[c];
        ++counts[f];
      }
    }
    const TimeLine line = maker.finish();
    EXPECT_LE(std::ssize(line.segments), 2 * windows.count());
    std::int64_t next = 0, covered = 0;
    for (const TimeSegment& s : line.segments) {
      ASSERT_LE(next, s.frames.begin);
      ASSERT_LT(s.frames.begin, s.frames.end);
      next = s.frames.end, covered += s.frames.end - s.frames.begin;
      for (std::int64_t f = s.frames.begin; f < s.frames.end; ++f) {
        auto mean = sums[f];
        for (double& p : mean) p /= counts[f];
        EXPECT_EQ(s.label, likeliest(mean)) << f;
        EXPECT_DOUBLE_EQ(s.probability, mean[s.label]) << f;
      }
    }
    EXPECT_EQ(covered, frames - std::ranges::count(counts, 0)) << "what is covered is in a segment, the rest in none";
    std::int64_t merged_frames = 0;
    const auto intervals = merged(line.segments);
    for (std::size_t i = 0; i < intervals.size(); ++i) {
      merged_frames += intervals[i].frames.end - intervals[i].frames.begin;
      if (i > 0) {
        EXPECT_FALSE(intervals[i].label == intervals[i - 1].label &&
                     intervals[i].frames.begin == intervals[i - 1].frames.end);
      }
    }
    EXPECT_EQ(merged_frames, covered);
  }
}

}  // namespace
}  // namespace voxshard
