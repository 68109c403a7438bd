// Real clips and clips of every awkward kind: frames, sizes and timestamps are those of ffprobe, and seeking gives the
// frames that reading through gives.
#include "io/video/video_reader.h"

#include <algorithm>
#include <numeric>

#include "libcore/base/rng.h"
#include "tests/io/video/video_scene.h"

namespace voxshard {
namespace {

/// Reads the last frame again, then every frame in a shuffled order: some forwards and most across keyframes.
void expect_seeking_equals_reading_through(const fs::path& path) {
  SCOPED_TRACE(path.string());
  VideoReader video(path, {.threads = 2});
  const auto through = all_frames(video);
  ASSERT_EQ(static_cast<std::int64_t>(through.size()), video.index().size());
  std::vector<std::int64_t> order(through.size());
  std::iota(order.begin(), order.end(), 0);
  for (std::size_t i = order.size(); i > 1; --i)
    std::swap(order[i - 1], order[rng_below({.seed = 4}, i, static_cast<std::int64_t>(i))]);
  order.insert(order.begin(), video.index().size() - 1);
  VideoFrame frame;
  for (const std::int64_t number : order) {
    ASSERT_TRUE(video.read(number, frame)) << number;
    const ReadFrame now = kept(frame), &before = through[number];
    EXPECT_EQ(now.number, number);
    EXPECT_EQ(now.pts_ticks, before.pts_ticks) << number;
    EXPECT_TRUE(now.rgb == before.rgb) << "other pixels in frame " << number;
  }
}

TEST(RealVideos, EachHasTheFramesSizeAndTimesOfFfprobe) {
  REQUIRE_FFMPEG();
  const fs::path root = test_data() / "video";
  REQUIRE_TEST_DATA(root);
  int files = 0;
  for (const auto& entry : fs::recursive_directory_iterator(root))
    if (is_video_name(entry.path())) files += expect_as_ffprobe(entry.path()) > 0;
  EXPECT_GE(files, 20);
}

TEST(RealVideos, SeekingEqualsReadingThrough) {
  const fs::path root = test_data() / "video";
  REQUIRE_TEST_DATA(root);
  for (const char* name :
       {"decord_apache2/video_90.mov", "decord_apache2/unordered.mov", "torchcodec_bsd3/av1_video.mkv",
        "torchcodec_bsd3/h265_video.mp4", "torchcodec_bsd3/h264_10bits.mp4", "datumaro_mit/video.avi"})
    expect_seeking_equals_reading_through(root / name);
}

TEST(RealVideos, TheHeaderThatPromisesTooMuchIsNotBelieved) {
  const fs::path tree = test_data() / "video/opencv_apache2/tree.avi";
  REQUIRE_TEST_DATA(tree);
  VideoReader video(tree, {.threads = 2, .decode_index = true});
  EXPECT_EQ(video.stream().header_frames, 444);
  EXPECT_EQ(video.index().size(), 68);
  EXPECT_THAT(video.notes(),
              testing::Contains(testing::HasSubstr("promises 444 frames, the file holds 68 that decode")));
}

TEST(RealVideos, ThePhonesTurnIsApplied) {
  const fs::path root = test_data() / "video/decord_apache2";
  REQUIRE_TEST_DATA(root);
  for (const auto& [name, degrees] : {std::pair("video_0.mov", 0), {"video_90.mov", 90}, {"video_270.mov", 270}}) {
    VideoReader video(root / name);
    EXPECT_EQ(video.stream().orientation.clockwise_degrees(), degrees) << name;
    VideoFrame frame;
    ASSERT_TRUE(video.next(frame));
    EXPECT_EQ(frame.rgb.shape(), (Shape{video.stream().height, video.stream().width, 3})) << name;
    EXPECT_EQ(video.stream().width, degrees == 0 ? video.stream().stored_width : video.stream().stored_height) << name;
  }
}

TEST_F(VideoClips, OfManyKindsHaveTheFramesSizeAndTimesOfFfprobe) {
  EXPECT_EQ(expect_as_ffprobe(clip("reordered.mp4", "-c:v libx264 -bf 3 -g 8")), 25);
  EXPECT_EQ(expect_as_ffprobe(clip("odd.mkv", "-c:v ffv1 -pix_fmt yuv420p", "101x67")), 25);
  EXPECT_EQ(expect_as_ffprobe(clip("ten_bit.mkv", "-c:v libx264 -pix_fmt yuv422p10le", "102x66")), 25);
  EXPECT_EQ(expect_as_ffprobe(clip("full_chroma.mp4", "-c:v libx264 -pix_fmt yuv444p", "101x67")), 25);
  EXPECT_EQ(expect_as_ffprobe(clip("grey.mkv", "-c:v ffv1 -pix_fmt gray")), 25);
  EXPECT_EQ(expect_as_ffprobe(clip("broadcast.ts", "-c:v mpeg2video -bf 2 -g 10")), 25);
  EXPECT_EQ(expect_as_ffprobe(clip("packed.avi", "-c:v mpeg4 -bf 2")), 25);
  EXPECT_EQ(expect_as_ffprobe(clip("raw.h264", "-c:v libx264 -bf 2")), 25);
  EXPECT_EQ(expect_as_ffprobe(clip("web.webm", "-c:v libvpx-vp9 -deadline realtime -cpu-used 8 -b:v 200k")), 25);
}

TEST_F(VideoClips, AVariableRateKeepsEveryTimestamp) {
  // The edit list that FFmpeg 7 writes into MP4 ends before the last frame, whose duration it does not know.
  const std::string timing = "-vf 'setpts=(N*N+7*N+3)/100/TB' -fps_mode passthrough -use_editlist 0 ";
  for (const char* name : {"variable.mkv", "variable.mp4"}) {
    const fs::path path = clip(name, timing + "-c:v libx264 -bf 2 -video_track_timescale 90000");
    EXPECT_EQ(expect_as_ffprobe(path), 25);
    const VideoReader video(path);
    EXPECT_FALSE(frame_rate(video.index()).constant) << name;
    // Frame 24 comes 0.24 (24 + 7) s after frame 0: 7.44 s.
    EXPECT_NEAR(video.index().seconds(24) - video.index().seconds(0), 7.44, 0.0005) << name;
  }
}

TEST_F(VideoClips, TheIndexOfPacketsIsThatOfDecoding) {
  for (const auto& path :
       {clip("reordered.mp4", "-c:v libx264 -bf 3 -g 8"), clip("grey.mkv", "-c:v ffv1 -pix_fmt gray"),
        clip("web.webm", "-c:v libvpx-vp9 -deadline realtime -cpu-used 8 -b:v 200k")}) {
    const VideoReader quick(path), decoded(path, {.decode_index = true});
    EXPECT_FALSE(quick.index().decoded);
    EXPECT_TRUE(decoded.index().decoded);
    EXPECT_EQ(index_times(quick.index()), index_times(decoded.index())) << path;
    EXPECT_TRUE(quick.notes().empty()) << path << quick.notes().front();
  }
}

TEST_F(VideoClips, SeekingEqualsReadingThrough) {
  expect_seeking_equals_reading_through(clip("reordered.mp4", "-c:v libx264 -bf 3 -g 8", "96x64", 2));
  expect_seeking_equals_reading_through(
      clip("open.mkv", "-c:v libx264 -bf 3 -g 8 -x264-params open-gop=1", "96x64", 2));
  expect_seeking_equals_reading_through(clip("broadcast.ts", "-c:v mpeg2video -bf 2 -g 10"));
  expect_seeking_equals_reading_through(clip("packed.avi", "-c:v mpeg4 -bf 2 -g 9"));
  expect_seeking_equals_reading_through(clip("raw.h264", "-c:v libx264 -bf 2 -g 9"));
}

TEST_F(VideoClips, AnEditListHidesFramesAndSeekingStillAgrees) {
  const fs::path whole = clip("whole.mp4", "-c:v libx264 -bf 2 -g 50", "96x64", 2), cut = folder() / "cut.mp4";
  output_of("ffmpeg -v error -nostdin -ss 0.6 -i " + quoted(whole) + " -c copy " + quoted(cut));
  expect_as_ffprobe(cut);
  expect_seeking_equals_reading_through(cut);
}

TEST_F(VideoClips, ReadingStaysWithinAFewFrames) {
  // 300 frames of 640 x 480 are 276 MB as RGB.
  VideoReader video(clip("long.mkv", "-c:v libx264 -preset ultrafast", "640x480", 12), {.threads = 2});
  VideoFrame frame;
  ASSERT_TRUE(video.next(frame));
  const std::byte* memory = frame.rgb.data();
  std::int64_t frames = 1;
  while (video.next(frame)) {
    ++frames;
    ASSERT_EQ(frame.rgb.data(), memory) << "the frame's memory is reused";
  }
  EXPECT_EQ(frames, 300);
}

TEST_F(VideoClips, FilesThatAreNoVideosAreRefusedWithTheReason) {
  const auto refused = [](const fs::path& path, const std::string& piece) {
    expect_error(ErrorKind::kInput, piece, [&] { VideoReader video(path); });
    expect_error(ErrorKind::kInput, path.string(), [&] { VideoReader video(path); });
  };
  refused(folder() / "nowhere.mp4", "no such file");
  refused(folder(), "is a folder");
  write_bytes(folder() / "empty.mp4", "");
  refused(folder() / "empty.mp4", "is empty");
  write_bytes(folder() / "letter.mp4", "Dear reader, this is a letter and not a video.\n");
  refused(folder() / "letter.mp4", "header cannot be read");
  write_bytes(folder() / "letter.txt", "Dear reader, this is a letter and not a video.\n");
  refused(folder() / "letter.txt", "is no video");
  const std::string playlist = "#EXTM3U\n#EXT-X-TARGETDURATION:10\n#EXTINF:9,\n/etc/passwd\n";
  write_bytes(folder() / "playlist.m3u8", playlist);
  refused(folder() / "playlist.m3u8", "is no video");
  write_bytes(folder() / "playlist.mp4", playlist);  // FFmpeg 7 takes it for MP4, before it for a playlist
  refused(folder() / "playlist.mp4", "playlist.mp4");
  const fs::path sound = folder() / "sound.m4a";
  output_of("ffmpeg -v error -nostdin -f lavfi -i sine=duration=1 -c:a aac " + quoted(sound));
  refused(sound, "only sound");
  const fs::path headless = clip("headless.mp4", "-c:v libx264");
  fs::resize_file(headless, fs::file_size(headless) / 2);
  refused(headless, "before the index at its end");
}

}  // namespace
}  // namespace voxshard
