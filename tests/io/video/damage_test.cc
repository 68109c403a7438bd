// Truncated and damaged videos: every good frame is read, damage is reported, and nothing crashes or hangs.
#include <algorithm>

#include "libcore/base/rng.h"
#include "tests/io/video/video_scene.h"

namespace voxshard {
namespace {

class VideoDamage : public VideoClips {};

TEST_F(VideoDamage, ATruncatedFileGivesItsGoodFramesAndANote) {
  for (const auto& [name, options] : {std::pair("cut.mkv", "-c:v libx264 -g 10"),
                                      {"cut.mp4", "-c:v libx264 -g 10 -movflags faststart"},
                                      {"cut.avi", "-c:v mpeg4 -g 10"}}) {
    const fs::path path = clip(name, options, "160x128", 2);
    fs::resize_file(path, fs::file_size(path) * 6 / 10);
    const std::int64_t frames = expect_as_ffprobe(path);
    EXPECT_GT(frames, 10) << name;
    EXPECT_LT(frames, 50) << name;
    VideoReader video(path, {.threads = 2});
    EXPECT_EQ(static_cast<std::int64_t>(all_frames(video).size()), frames) << name;
    EXPECT_FALSE(video.notes().empty()) << name;
  }
}

TEST_F(VideoDamage, DamageInTheMiddleCostsOnlyWhatItHits) {
  const fs::path path = clip("damaged.mkv", "-c:v libx264 -g 10", "160x128", 2);
  std::string bytes = read_bytes(path);
  for (std::size_t i = 0; i < 600; ++i) bytes[bytes.size() / 2 + i] = static_cast<char>(rng_bits({.seed = 9}, i));
  write_bytes(path, bytes);
  VideoReader video(path, {.threads = 2});
  const auto frames = all_frames(video);
  EXPECT_GE(frames.size(), 35u);
  EXPECT_EQ(frames.front().pts_ticks, 0);
  EXPECT_EQ(frames.back().pts_ticks, 1960);  // the last of 50 frames, in milliseconds
  EXPECT_FALSE(video.notes().empty());
  VideoFrame frame;
  EXPECT_TRUE(video.read(video.index().size() - 1, frame));
}

TEST_F(VideoDamage, AFrameThatIsLostIsSaidToBeLost) {
  // Every byte of the packets behind the first keyframe up to the middle is gone, the container's own tables are not.
  const fs::path path = clip("lost.mp4", "-c:v mjpeg", "96x64", 1);
  std::string bytes = read_bytes(path);
  const std::size_t first = bytes.find("mdat") + 4;
  VideoReader whole(path);
  const auto before = all_frames(whole);
  const std::size_t start = bytes.find("\xff\xd8", bytes.find("\xff\xd8", first) + 2);  // the second JPEG image
  std::fill(bytes.begin() + static_cast<std::ptrdiff_t>(start),
            bytes.begin() + static_cast<std::ptrdiff_t>(start) + 1000, '\0');
  write_bytes(path, bytes);
  VideoReader video(path);
  VideoFrame frame;
  EXPECT_EQ(video.index().size(), 25);
  EXPECT_FALSE(video.read(1, frame));
  EXPECT_FALSE(video.read(1, frame));
  ASSERT_TRUE(video.read(2, frame));
  EXPECT_TRUE(kept(frame).rgb == before[2].rgb);
  EXPECT_THAT(video.notes(), testing::Contains(testing::HasSubstr("1 frame could not be decoded")));
}

TEST_F(VideoDamage, AnyBytesGiveFramesOrAClearError) {
  int read = 0, refused = 0;
  for (const auto& [name, options] : {std::pair("a.mp4", "-c:v libx264 -bf 2 -g 5"),
                                      {"a.mkv", "-c:v libx264 -g 5"},
                                      {"a.avi", "-c:v mpeg4 -g 5"},
                                      {"a.ts", "-c:v mpeg2video -g 5"}}) {
    const std::string whole = read_bytes(clip(name, options, "48x32"));
    for (std::uint64_t seed = 0; seed < 24; ++seed) {
      const RngKey key{.seed = seed, .stream = rng_stream(name)};
      std::string bytes = whole;
      if (seed % 3 == 0) bytes.resize(rng_below(key, 0, static_cast<std::int64_t>(bytes.size())));
      // Headers lie at either end: half of the damage goes into the first or last 1000 bytes.
      for (std::uint64_t i = 1; i <= 12 && bytes.size() > 1000; ++i) {
        const std::int64_t size = static_cast<std::int64_t>(bytes.size()), range = i % 2 ? 1000 : size;
        const std::int64_t at = rng_below(key, 2 * i, range) + (i % 4 == 3 ? size - range : 0);
        bytes[at] = static_cast<char>(rng_bits(key, 2 * i + 1));
      }
      write_bytes(folder() / "damaged", bytes);
      SCOPED_TRACE(std::string(name) + " seed " + std::to_string(seed));
      try {
        VideoReader video(folder() / "damaged", {.threads = 2});
        VideoFrame frame;
        while (video.next(frame)) EXPECT_LT(frame.number, video.index().size());
        video.read(video.index().size() / 2, frame);
        ++read;
      } catch (const Error& e) {
        EXPECT_EQ(static_cast<int>(e.kind()), static_cast<int>(ErrorKind::kInput)) << e.what();
        ++refused;
      }
    }
  }
  EXPECT_GE(read, 30);
  EXPECT_GE(refused, 5);
}

}  // namespace
}  // namespace voxshard
