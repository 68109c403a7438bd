// The timetable of a video and the choice of frames: pure functions, all numbers by hand.
#include "io/video/video_index.h"

#include "io/video/select.h"
#include "tests/io/test_files.h"

namespace voxshard {
namespace {

using Numbers = std::vector<std::int64_t>;

VideoIndex index_of(const Numbers& pts_ticks, Rational time_base, const Numbers& keyframes = {0}) {
  VideoIndex index{.time_base = time_base};
  for (std::size_t i = 0; i < pts_ticks.size(); ++i)
    index.frames.push_back(
        {.pts_ticks = pts_ticks[i],
         .keyframe = std::find(keyframes.begin(), keyframes.end(), static_cast<std::int64_t>(i)) != keyframes.end()});
  return index;
}

TEST(VideoIndex, AnEvenBeatRoundedToTicksIsConstant) {
  // 29.97 frames per second in milliseconds: 0, 33.37, 66.73, 100.1, 133.47
  const FrameRate rate = frame_rate(index_of({0, 33, 67, 100, 133}, {1, 1000}));
  EXPECT_TRUE(rate.constant);
  EXPECT_EQ(rate.per_second, reduced(4000, 133));
  EXPECT_EQ(rate.shortest_ticks, 33);
  EXPECT_EQ(rate.longest_ticks, 34);
}

TEST(VideoIndex, OneFrameLateIsVariable) {
  const FrameRate rate = frame_rate(index_of({10, 20, 32, 40, 50}, {1, 100}));
  EXPECT_FALSE(rate.constant);
  EXPECT_EQ(rate.per_second, (Rational{10, 1}));
}

TEST(VideoIndex, AlternatingIntervalsAreVariable) {
  EXPECT_FALSE(frame_rate(index_of({0, 3, 10, 13, 20}, {1, 100})).constant);
}

TEST(VideoIndex, AGapInAnEvenBeatIsFoundButNotInAVariableOne) {
  std::vector<std::int64_t> ticks;
  for (std::int64_t i = 0; i < 30; ++i)
    if (i != 7 && (i < 20 || i > 22)) ticks.push_back(100 * i / 3);
  EXPECT_EQ(gaps(index_of(ticks, {1, 1000})), (Numbers{6, 18}));  // beat 19 is frame 18: beat 7 is missing
  EXPECT_EQ(gaps(index_of({0, 40, 80, 120}, {1, 1000})), Numbers{});
  EXPECT_EQ(gaps(index_of({0, 40, 200, 220, 300}, {1, 1000})), Numbers{});
  EXPECT_EQ(gaps(index_of({0}, {1, 1000})), Numbers{});
}

TEST(VideoIndex, OneFrameHasNoRate) {
  EXPECT_EQ(frame_rate(index_of({7}, {1, 25})).per_second, (Rational{0, 1}));
  EXPECT_EQ(frame_rate(index_of({}, {1, 25})).per_second, (Rational{0, 1}));
}

TEST(VideoIndex, TheLastFrameLastsAsLongAsItSaysElseTheMean) {
  VideoIndex index = index_of({100, 110, 130}, {1, 10});
  EXPECT_DOUBLE_EQ(duration_s(index), 3.0 + 1.5);
  index.frames.back().duration_ticks = 7;
  EXPECT_DOUBLE_EQ(duration_s(index), 3.7);
  EXPECT_DOUBLE_EQ(index.seconds(1), 11.0);
}

TEST(VideoIndex, FramesAreFoundByKeyframeAndTime) {
  const VideoIndex index = index_of({0, 10, 20, 30, 40}, {1, 100}, {1, 3});
  EXPECT_EQ(index.keyframe_at_or_before(4), 3);
  EXPECT_EQ(index.keyframe_at_or_before(3), 3);
  EXPECT_EQ(index.keyframe_at_or_before(2), 1);
  EXPECT_EQ(index.keyframe_at_or_before(0), 0);
  EXPECT_EQ(index.first_at_or_after(20), 2);
  EXPECT_EQ(index.first_at_or_after(21), 3);
  EXPECT_EQ(index.first_at_or_after(41), 5);
}

TEST(VideoIndex, RationalsAreReducedWithAPositiveDenominator) {
  EXPECT_EQ(reduced(6, -4), (Rational{-3, 2}));
  EXPECT_EQ(reduced(0, 25), (Rational{0, 1}));
  EXPECT_EQ(rational_text({30000, 1001}), "30000/1001");
  EXPECT_EQ(rational_text({25, 1}), "25");
}

TEST(FrameSelection, StrideCountsFromTheStartOfTheRange) {
  const VideoIndex index = index_of({0, 1, 2, 3, 4, 5, 6, 7}, {1, 25});
  EXPECT_EQ(select_frames(index, {.stride = 3}), (Numbers{0, 3, 6}));
  EXPECT_EQ(select_frames(index, {.stride = 3, .range = frame_range_from_text("1:7")}), (Numbers{1, 4}));
  EXPECT_EQ(select_frames(index, {.range = frame_range_from_text("6:")}), (Numbers{6, 7}));
  EXPECT_EQ(select_frames(index, {.range = frame_range_from_text("9:12")}), Numbers{});
  EXPECT_EQ(select_frames(index, {.stride = INT64_MAX, .range = frame_range_from_text("1:7")}), (Numbers{1}));
}

TEST(FrameSelection, SecondsCountFromTheFirstTimestamp) {
  const VideoIndex index = index_of({50, 60, 70, 80, 90}, {1, 10});  // seconds 0 to 4
  EXPECT_EQ(select_frames(index, {.range = frame_range_from_text("1s:3s")}), (Numbers{1, 2}));
  EXPECT_EQ(select_frames(index, {.range = frame_range_from_text("0.5s:")}), (Numbers{1, 2, 3, 4}));
  EXPECT_EQ(select_frames(index, {.range = frame_range_from_text(":1.01s")}), (Numbers{0, 1}));
}

TEST(FrameSelection, AClockTakesTheFrameOnShow) {
  // Shown at 0, 0.1, 0.2, 0.7, 0.8, 1.0 s; a clock of 4 per second ticks at 0, 0.25, 0.5, 0.75, 1.0
  const VideoIndex index = index_of({0, 10, 20, 70, 80, 100}, {1, 100});
  EXPECT_EQ(select_frames(index, {.per_second = Rational{4, 1}}), (Numbers{0, 2, 3, 5}));
}

TEST(FrameSelection, AClockFasterThanTheVideoTakesEachFrameOnce) {
  EXPECT_EQ(select_frames(index_of({0, 10, 20}, {1, 100}), {.per_second = Rational{1000, 1}}), (Numbers{0, 1, 2}));
}

TEST(FrameSelection, AClockOfTheVideosOwnRateTakesEveryFrame) {
  Numbers ticks;
  for (std::int64_t i = 0; i < 1000; ++i) ticks.push_back(i * 1001);
  EXPECT_EQ(select_frames(index_of(ticks, {1, 30000}), {.per_second = Rational{30000, 1001}}).size(), 1000u);
}

TEST(FrameSelection, WordsThatMeanNothingAreRefused) {
  for (const char* text : {"", "5", "a:b", "1s:5", "1.5:3", "5:5", "7:3", "-1:4", "s:2s", "1:2:3"})
    expect_error(ErrorKind::kUsage, "{range}", [&] { frame_range_from_text(text); });
  for (const char* text : {"", "0", "-3", "x", "1/0", "5fps", "0/7"})
    expect_error(ErrorKind::kUsage, "{fps}", [&] { frames_per_second_from_text(text); });
  EXPECT_EQ(frames_per_second_from_text("7.5"), (Rational{15, 2}));
  EXPECT_EQ(frames_per_second_from_text("30000/1001"), (Rational{30000, 1001}));
}

TEST(FrameSelection, StrideAndClockExcludeEachOther) {
  const VideoIndex index = index_of({0, 1}, {1, 25});
  expect_error(ErrorKind::kUsage, "{stride}", [&] { select_frames(index, {.stride = 0}); });
  expect_error(ErrorKind::kUsage, "exclude", [&] {
    select_frames(index, {.stride = 2, .per_second = Rational{5, 1}});
  });
}

}  // namespace
}  // namespace voxshard
