// Written videos read back: frames, timestamps, pixels within what the codec loses; and nothing half written is left.
#include "io/video/video_writer.h"

#include <cstdlib>

#include "tests/io/video/video_scene.h"

namespace voxshard {
namespace {

/// Returns a grey ramp from left to right that grows brighter from frame to frame.
Tensor ramp(std::int64_t height, std::int64_t width, std::int64_t number) {
  Tensor rgb(DType::kU8, {height, width, 3});
  for (std::int64_t i = 0; i < rgb.count(); ++i)
    rgb.as<std::uint8_t>()[i] = static_cast<std::uint8_t>(40 + 5 * number + i / 3 % width);
  return rgb;
}

void write_ramps(const fs::path& path, const VideoWriteOptions& options, const std::vector<std::int64_t>& ticks) {
  VideoWriter out(path, options);
  for (std::size_t i = 0; i < ticks.size(); ++i)
    out.write(ramp(options.height, options.width, static_cast<std::int64_t>(i)), ticks[i]);
  out.close();
}

TEST(VideoWriter, KeepsEveryTimestampExactly) {
  ScratchFolder folder;
  const std::vector<std::int64_t> ticks = {7, 8, 1001, 2002, 2003, 90000, 123457};
  for (const Rational base : {Rational{1, 30000}, Rational{1, 15}, Rational{1001, 30000}}) {
    const fs::path path = folder.path() / ("video_" + std::to_string(base.den) + ".mp4");
    write_ramps(path, {.width = 64, .height = 48, .time_base = base}, ticks);
    const VideoReader video(path, {.decode_index = true});
    ASSERT_EQ(video.index().size(), static_cast<std::int64_t>(ticks.size()));
    for (std::int64_t i = 0; i < video.index().size(); ++i) {
      const Rational read = video.index().time_base;
      // read ticks x read base = given ticks x given base, without rounding
      EXPECT_EQ(video.index()[i].pts_ticks * read.num * base.den, ticks[i] * base.num * read.den)
          << path << " frame " << i;
    }
  }
}

TEST(VideoWriter, ImagesComeBack) {
  ScratchFolder folder;
  for (const char* name : {"a.mp4", "a.mov", "a.mkv"}) {
    write_ramps(folder.path() / name, {.width = 64, .height = 48, .time_base = {1, 1000}}, {0, 40, 100});
    VideoReader video(folder.path() / name);
    VideoFrame frame;
    for (std::int64_t n = 0; n < 3; ++n) {
      ASSERT_TRUE(video.next(frame)) << name;
      EXPECT_DOUBLE_EQ(video.index().seconds(n), std::vector({0.0, 0.04, 0.1})[n]) << name;
      const Tensor wanted = ramp(48, 64, n);
      double sum = 0;
      for (std::int64_t i = 0; i < wanted.count(); ++i)
        sum += std::abs(frame.rgb.as<std::uint8_t>()[i] - wanted.as<std::uint8_t>()[i]);
      EXPECT_LE(sum / static_cast<double>(wanted.count()), 3) << name << " frame " << n;
    }
    EXPECT_FALSE(video.next(frame));
  }
}

TEST(VideoWriter, OddSizesGrowByOne) {
  ScratchFolder folder;
  write_ramps(folder.path() / "odd.mp4", {.width = 63, .height = 47, .sample_aspect = {4, 3}}, {0, 1});
  const VideoReader video(folder.path() / "odd.mp4");
  EXPECT_EQ(video.stream().width, 64);
  EXPECT_EQ(video.stream().height, 48);
  EXPECT_EQ(video.stream().sample_aspect, (Rational{4, 3}));
}

TEST(VideoWriter, WithoutCloseNothingIsLeft) {
  ScratchFolder folder;
  {
    VideoWriter out(folder.path() / "half.mp4", {.width = 64, .height = 48});
    out.write(ramp(48, 64, 0), 0);
    EXPECT_EQ(folder.files(), 1u);
    EXPECT_FALSE(fs::exists(folder.path() / "half.mp4"));
  }
  EXPECT_EQ(folder.files(), 0u);
}

TEST(VideoWriter, WhatCannotBeWrittenIsRefused) {
  ScratchFolder folder;
  const VideoWriteOptions options{.width = 64, .height = 48};
  expect_error(ErrorKind::kOutput, "ends in .mp4", [&] { VideoWriter out(folder.path() / "a.gif", options); });
  expect_error(ErrorKind::kOutput, "nowhere", [&] { VideoWriter out(folder.path() / "nowhere/a.mp4", options); });
  EXPECT_EQ(folder.files(), 0u);
}

TEST(VideoWriter, TimesThatDoNotGrowAreADefect) {
  ScratchFolder folder;
  VideoWriter out(folder.path() / "a.mp4", {.width = 64, .height = 48});
  out.write(ramp(48, 64, 0), 5);
  expect_error(ErrorKind::kInternal, "timestamps grow", [&] { out.write(ramp(48, 64, 1), 5); });
}

TEST(VideoWriter, KnowsItsOwnFiles) {
  ScratchFolder folder;
  for (const char* name : {"a.mp4", "a.mov", "a.mkv"}) {
    write_ramps(folder.path() / name, {.width = 64, .height = 48, .time_base = {1, 1000}}, {0, 40, 100});
    require_output_file(folder.path() / name, written_video());
  }
  write_bytes(folder.path() / "holiday.mp4", "somebody's");
  expect_error(ErrorKind::kOutput, "is there and is not",
               [&] { require_output_file(folder.path() / "holiday.mp4", written_video()); });
}

}  // namespace
}  // namespace voxshard
