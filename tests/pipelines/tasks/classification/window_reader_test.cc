// Windows that are read in one pass, frame after frame, against clips that are read one by one.
#include "pipelines/tasks/classification/samples/window_reader.h"

#include <gmock/gmock.h>

#include "io/video/video_writer.h"
#include "pipelines/tasks/classification/samples/clip_reader.h"
#include "tests/io/video/video_scene.h"

namespace voxshard {
namespace {

/// Writes a video of frames that differ everywhere.
fs::path make_video(const fs::path& path, std::int64_t frames, std::int64_t height = 10, std::int64_t width = 12) {
  VideoWriter out(path, {.width = width, .height = height, .time_base = {1, 25}});
  Tensor rgb(DType::kU8, {height, width, 3});
  for (std::int64_t f = 0; f < frames; ++f) {
    for (std::int64_t i = 0; i < rgb.count(); ++i)
      rgb.as<std::uint8_t>()[i] = static_cast<std::uint8_t>((7 * f + 13 * (i / 3 % width) + 5 * (i / 3 / width)) % 256);
    out.write(rgb, f);
  }
  out.close();
  return path;
}

ClassPreparation preparation_of(const ClipSteps& steps) {
  return {.classes = {"a", "b"},
          .items = ItemKind::kClip,
          .clip_length = steps.length,
          .clip_stride = steps.stride,
          .channels = 3,
          .mean = {0.5, 0.4, 0.3},
          .deviation = {0.2, 0.3, 0.4}};
}

class WindowReaderTest : public testing::Test {
 protected:
  /// Reads all windows in batches and compares each with read_clip(), in a box that begins inside. Returns the most
  /// frames held.
  std::int64_t compare_all(const fs::path& file, const ClipSteps& steps, std::int64_t batch,
                           const ClassPreparation& p) const {
    VideoReader video(file), other(file);
    const ClipWindows windows(video.index().size(), steps);
    WindowReader reader(video, windows, p);
    for (std::int64_t first = 0; first < windows.count(); first += batch) {
      const std::int64_t count = std::min(batch, windows.count() - first);
      reader.load(first, count, {});
      for (std::int64_t w = first; w < first + count; ++w) {
        const Tensor clip = read_clip(other, windows.begin(w), p);
        const Shape& s = clip.shape();
        const Box part{{1, s[0] / 2, 1, 0, 0}, {1, s[0] - s[0] / 2, s[1] - 1, s[2] + 2, s[3]}};  // wider than a frame
        std::vector<float> values(static_cast<std::size_t>(part.count()), -7);
        reader.place(w, 1, dense_view(values.data(), DType::kF32, part));
        std::size_t at = 0;
        for (std::int64_t t = part.begin[1]; t < s[0]; ++t)
          for (std::int64_t y = 1; y < s[1]; ++y)
            for (std::int64_t x = 0; x < s[2] + 2; ++x)
              for (std::int64_t c = 0; c < s[3]; ++c, ++at)
                EXPECT_EQ(values[at], x < s[2] ? clip.as<float>()[((t * s[1] + y) * s[2] + x) * s[3] + c] : 0.0F)
                    << "window " << w << " t " << t << " y " << y << " x " << x;
        if (testing::Test::HasFailure()) return -1;
      }
    }
    EXPECT_LE(reader.most_held(), most_frames_held(steps, batch));
    return reader.most_held();
  }

  ScratchFolder scratch_;
};

TEST_F(WindowReaderTest, EveryWindowIsTheClipThatIsReadByItself) {
  const fs::path file = make_video(scratch_.path() / "a.mkv", 41);
  for (const auto& [length, stride, hop, batch] : std::vector<std::array<std::int64_t, 4>>{{4, 1, 4, 1},
                                                                                           {4, 1, 1, 3},
                                                                                           {4, 2, 8, 2},
                                                                                           {4, 2, 1, 1},
                                                                                           {3, 3, 2, 4},
                                                                                           {4, 2, 3, 2},
                                                                                           {5, 1, 13, 2},
                                                                                           {1, 1, 1, 7},
                                                                                           {41, 1, 41, 2}}) {
    SCOPED_TRACE(std::to_string(length) + " x " + std::to_string(stride) + " every " + std::to_string(hop) + ", " +
                 std::to_string(batch) + " at once");
    const ClipSteps steps{.length = length, .stride = stride, .hop = hop};
    compare_all(file, steps, batch, preparation_of(steps));
  }
}

TEST_F(WindowReaderTest, FramesAreResizedAndGreyAsClipsAre) {
  const ClipSteps steps{.length = 4, .stride = 1, .hop = 3};
  ClassPreparation p = preparation_of(steps);
  p.channels = 1, p.mean = {0.5}, p.deviation = {0.25}, p.size = {4, 6, 7}, p.resizes = true;
  compare_all(make_video(scratch_.path() / "a.mkv", 13), steps, 2, p);
}

TEST_F(WindowReaderTest, ALongVideoHoldsNoMoreFramesThanAShortOne) {
  for (const std::int64_t hop : {2, 8, 20}) {
    const ClipSteps steps{.length = 4, .stride = 2, .hop = hop};
    const ClassPreparation p = preparation_of(steps);
    const std::int64_t held = compare_all(make_video(scratch_.path() / "short.mkv", 40), steps, 2, p);
    EXPECT_EQ(compare_all(make_video(scratch_.path() / "long.mkv", 400), steps, 2, p), held) << "hop " << hop;
  }
}

TEST_F(WindowReaderTest, OnlyTheIndexAndTheTimeLineOfAPlanGrowWithTheLength) {
  const auto plan = [](std::int64_t frames) {
    return windows_plan({.steps = {.length = 16, .stride = 2, .hop = 8},
                         .frames = frames,
                         .pixels = 1920 * 1080,
                         .extents = {1, 16, 1080, 1920},
                         .channels = 3,
                         .classes = 10});
  };
  const std::int64_t grows = plan(100'000).total() - plan(10'000).total();
  EXPECT_EQ(grows, 90'000 * 24 + 90'000 / 8 * 128);
  EXPECT_EQ(plan(100'000)[MemoryPart::kFeeding], plan(10'000)[MemoryPart::kFeeding]);
}

TEST_F(WindowReaderTest, FramesOfAnotherSizeThanTheHeaderSaysAreLost) {
  REQUIRE_FFMPEG();
  const std::string as = "-c:v mpeg2video -g 1 -bf 0";
  const fs::path& folder = scratch_.path();
  const std::string small = read_bytes(make_clip(folder, "small.ts", as, "64x64"));
  write_bytes(folder / "joined.ts",
              small + read_bytes(make_clip(folder, "large.ts", as + " -output_ts_offset 1", "256x192")));
  const ClipSteps steps{.length = 4, .stride = 1, .hop = 4};
  ClassPreparation p = preparation_of(steps);
  p.size = {4, 16, 16}, p.resizes = true;
  VideoReader video(folder / "joined.ts");
  const ClipWindows windows(video.index().size(), steps);
  WindowReader reader(video, windows, p);
  std::int64_t usable = 0;
  for (std::int64_t w = 0; w < windows.count(); ++w) reader.load(w, 1, {}), usable += reader.usable(w);
  const std::int64_t second = video.index().size() - reader.lost();  // a demuxer may lose a frame where the sizes meet
  EXPECT_GE(reader.lost(), 24);
  EXPECT_GE(second, 24);
  EXPECT_EQ(usable, ceil_div(second, steps.hop)) << "windows with a frame of the first size";
}

TEST_F(WindowReaderTest, ADamagedVideoRepeatsFramesAsClipsDo) {
  const char* data = std::getenv("VOXSHARD_TEST_DATA");
  if (data == nullptr) GTEST_SKIP() << "VOXSHARD_TEST_DATA is not set";
  const ClipSteps steps{.length = 4, .stride = 1, .hop = 4};
  ClassPreparation p = preparation_of(steps);
  p.size = {4, 24, 32}, p.resizes = true;
  const fs::path file = fs::path(data) / "video/decord_apache2/corrupted.mp4";
  compare_all(file, steps, 2, p);
  VideoReader video(file);
  const ClipWindows windows(video.index().size(), steps);
  WindowReader reader(video, windows, p);
  std::int64_t usable = 0;
  for (std::int64_t w = 0; w < windows.count(); ++w) reader.load(w, 1, {}), usable += reader.usable(w);
  EXPECT_GT(reader.lost(), 0);
  EXPECT_EQ(usable, windows.count()) << "49 of its 50 frames decode";
  EXPECT_THROW(WindowReader(video, windows, p).load(0, 1, [] { return true; }), Stopped);
}

}  // namespace
}  // namespace voxshard
