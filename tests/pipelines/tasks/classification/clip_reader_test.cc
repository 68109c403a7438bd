// Clips out of videos: the frames of the video reader, in their places, whatever the codec and the damage.
#include "pipelines/tasks/classification/samples/clip_reader.h"

#include <gmock/gmock.h>

#include <numeric>

#include "pipelines/tasks/time_lines/draw_time_line.h"
#include "tests/io/test_files.h"
#include "tests/io/video/video_scene.h"
#include "tests/pipelines/tasks/classification/clip_scene.h"

namespace voxshard {
namespace {

ClassPreparation colour_clips(std::int64_t length, std::int64_t stride) {
  return {.classes = {"a", "b"},
          .items = ItemKind::kClip,
          .clip_length = length,
          .clip_stride = stride,
          .channels = 3,
          .mean = {0.25, 0.5, 0.125},
          .deviation = {0.5, 2, 1}};
}

std::vector<float> frame_of(const Tensor& clip, std::int64_t t) {
  const std::int64_t values = clip.count() / clip.shape()[0];
  return {clip.as<float>() + t * values, clip.as<float>() + (t + 1) * values};
}

/// Returns a frame of a video, read by itself, normalised with the mean and deviation of colour_clips().
std::vector<float> normalised_frame(const fs::path& file, std::int64_t number) {
  VideoReader video(file);
  VideoFrame frame;
  EXPECT_TRUE(video.read(number, frame));
  const double mean[] = {0.25, 0.5, 0.125}, deviation[] = {0.5, 2, 1};
  std::vector<float> values;
  for (std::int64_t i = 0; i < frame.rgb.count(); ++i) {
    const float intensity = static_cast<float>(frame.rgb.as<std::uint8_t>()[i]) / 255.0F;
    values.push_back(static_cast<float>((intensity - mean[i % 3]) / deviation[i % 3]));
  }
  return values;
}

void expect_frames_of_the_reader(const fs::path& file, std::int64_t first, const ClassPreparation& p) {
  SCOPED_TRACE(file.string());
  VideoReader video(file);
  std::int64_t repeated = 0;
  const Tensor clip = read_clip(video, first, p, &repeated);
  EXPECT_EQ(clip.shape(), (Shape{p.clip_length, video.stream().height, video.stream().width, 3}));
  for (std::int64_t t = 0; t < p.clip_length; ++t)
    EXPECT_TRUE(frame_of(clip, t) == normalised_frame(file, first + t * p.clip_stride)) << t;
  EXPECT_EQ(repeated, 0);
}

TEST(ClipReader, EachFrameIsThatOfTheVideoReaderAtItsIndex) {
  const ClipScene scene("clip_frames");
  scene.video("a.mp4", 40);
  expect_frames_of_the_reader(scene.path("a.mp4"), 0, colour_clips(4, 1));
  expect_frames_of_the_reader(scene.path("a.mp4"), 7, colour_clips(5, 3));
  expect_frames_of_the_reader(scene.path("a.mp4"), 39, colour_clips(1, 16));
}

TEST(ClipReader, RealVideosOfEveryCodecGiveTheirFrames) {
  const fs::path root = test_data() / "video";
  REQUIRE_TEST_DATA(root);
  for (const char* name :
       {"decord_apache2/unordered.mov", "decord_apache2/video_90.mov", "torchcodec_bsd3/h265_video.mp4",
        "torchcodec_bsd3/h264_10bits.mp4", "torchcodec_bsd3/av1_video.mkv", "opencv_apache2/tree.avi",
        "datumaro_mit/video.avi", "datumaro_mit/test.mp4", "bgslibrary_mit/demo.avi", "bgslibrary_mit/video.avi"})
    expect_frames_of_the_reader(root / name, 1, colour_clips(2, 1));
}

TEST(ClipReader, ClipsOneAfterAnotherAreThoseOfAReaderOfEach) {
  const ClipScene scene("clip_series");
  scene.video("a.mp4", 40);
  const ClassPreparation p = colour_clips(4, 2);
  VideoReader onwards(scene.path("a.mp4"));
  for (const ClassItem& item : scene.clips("a.mp4", 4, 2)) {
    const Tensor alone = ItemReader(p, {.items = ItemKind::kClip}).read(item, nullptr);
    const Tensor next = read_clip(onwards, item.index, p);
    EXPECT_TRUE(compare(alone.view(), next.view()).bit_equal) << item.name;
  }
}

TEST(ClipReader, FramesAreMadeGreyAndResizedOneByOne) {
  const ClipScene scene("clip_resized");
  scene.video("a.mp4", 8);
  ClassPreparation p{
      .classes = {"a", "b"}, .items = ItemKind::kClip, .clip_length = 3, .size = {3, 8, 12}, .resizes = true};
  VideoReader video(scene.path("a.mp4"));
  const Tensor clip = read_clip(video, 2, p);
  EXPECT_EQ(clip.shape(), (Shape{3, 8, 12, 1}));
  VideoFrame frame;
  ASSERT_TRUE(video.read(4, frame));
  const Tensor last = clip_frame(frame.rgb, p);
  EXPECT_EQ(last.shape(), (Shape{8, 12, 1}));
  EXPECT_TRUE(frame_of(clip, 2) == std::vector<float>(last.as<float>(), last.as<float>() + last.count()));
}

class ClipsOfTwoSizes : public VideoClips {
 protected:
  /// Makes an MPEG-TS of 25 frames of 64 x 64 and 25 of 256 x 192; its header says 64 x 64.
  fs::path joined() {
    const std::string as = "-c:v mpeg2video -g 1 -bf 0";
    std::string bytes = read_bytes(clip("small.ts", as, "64x64"));
    bytes += read_bytes(clip("large.ts", as + " -output_ts_offset 1", "256x192"));
    write_bytes(folder() / "joined.ts", bytes);
    return folder() / "joined.ts";
  }
  /// Returns the first frame of the second size; a demuxer may lose one where the sizes meet.
  static std::int64_t first_of_the_second(VideoReader& video) {
    VideoFrame frame;
    std::int64_t number = 0;
    while (video.read(number, frame) && frame.rgb.shape()[0] == 64) ++number;
    return number;
  }
};

TEST_F(ClipsOfTwoSizes, AFrameOfAnotherSizeThanTheHeaderSaysIsMissing) {
  VideoReader video(joined());
  ASSERT_EQ(video.stream().width, 64);
  const std::int64_t second = first_of_the_second(video);
  ASSERT_GE(second, 20);
  ASSERT_GE(video.index().size(), second + 20);
  for (const bool resizes : {false, true}) {
    ClassPreparation p = colour_clips(4, 1);
    if (resizes) p.size = {4, 32, 32}, p.resizes = true;
    std::int64_t repeated = 0;
    const Tensor clip = read_clip(video, second - 2, p, &repeated);
    EXPECT_EQ(repeated, 2);
    EXPECT_TRUE(frame_of(clip, 2) == frame_of(clip, 1));
    EXPECT_TRUE(frame_of(clip, 3) == frame_of(clip, 1));
    expect_error(ErrorKind::kInput, "not one decodes in the size of the header",
                 [&] { read_clip(video, second + 5, p); });
  }
}

/// A video of 25 JPEG images, some of which are overwritten.
class DamagedClips : public VideoClips {
 protected:
  fs::path damaged(const std::vector<int>& images) {
    const fs::path path = clip("lost.mp4", "-c:v mjpeg", "96x64", 1);
    std::string bytes = read_bytes(path);
    std::vector<std::size_t> begins;
    for (std::size_t at = bytes.find("mdat"); (at = bytes.find("\xff\xd8", at + 2)) != std::string::npos;)
      begins.push_back(at);
    for (const int image : images)
      std::fill_n(bytes.begin() + static_cast<std::ptrdiff_t>(begins.at(image)), 1000, '\0');
    write_bytes(path, bytes);
    return path;
  }
};

TEST_F(DamagedClips, AFrameThatDoesNotDecodeRepeatsTheOneBefore) {
  const fs::path path = damaged({2, 3});
  VideoReader video(path);
  std::int64_t repeated = 0;
  const Tensor clip = read_clip(video, 0, colour_clips(6, 1), &repeated);
  EXPECT_EQ(repeated, 2);
  EXPECT_TRUE(frame_of(clip, 2) == frame_of(clip, 1));
  EXPECT_TRUE(frame_of(clip, 3) == frame_of(clip, 1));
  EXPECT_TRUE(frame_of(clip, 4) == normalised_frame(path, 4));
  EXPECT_FALSE(frame_of(clip, 4) == frame_of(clip, 1));
}

TEST_F(DamagedClips, BeforeTheFirstGoodFrameStandsThatFrame) {
  const fs::path path = damaged({0, 1});
  VideoReader video(path);
  const Tensor clip = read_clip(video, 0, colour_clips(4, 1));
  for (std::int64_t t = 0; t < 3; ++t) EXPECT_TRUE(frame_of(clip, t) == normalised_frame(path, 2)) << t;
}

TEST_F(DamagedClips, WithoutAGoodFrameNothingIsDrawn) {
  std::vector<int> all(25);
  std::iota(all.begin(), all.end(), 0);
  const fs::path path = damaged(all);
  NoProgress progress;
  expect_error(ErrorKind::kInput, "none of its frames can be drawn into", [&] {
    draw_time_line({.video = path, .drawn = folder() / "seen.mp4"}, {}, {"a", "b"}, progress);
  });
  EXPECT_FALSE(fs::exists(folder() / "seen.mp4"));
}

TEST_F(DamagedClips, AClipWithoutAGoodFrameIsRefused) {
  VideoReader video(damaged({4, 5}));
  expect_error(ErrorKind::kInput, "of the clip of frames 4 to 5 not one decodes",
               [&] { read_clip(video, 4, colour_clips(2, 1)); });
}

}  // namespace
}  // namespace voxshard
