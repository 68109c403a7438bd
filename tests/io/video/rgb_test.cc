// Pixels: every layout of a stream becomes the RGB that ffmpeg makes of it when asked for accuracy, within two levels;
// and colours that are known by hand come out.
#include <algorithm>
#include <cstdlib>

#include "tests/io/video/video_scene.h"

namespace voxshard {
namespace {

class VideoRgb : public VideoClips {
 protected:
  fs::path clip(const std::string& name, const std::string& options, const std::string& size = "96x64") {
    return VideoClips::clip(name, options + " -frames:v 4", size);
  }
};

/// Expects pixels within `most` levels of ffmpeg's accurate conversion; within 12 in the third row and column from any
/// edge, where libswscale leaves out the outermost of four chroma samples (any edge: the image may have been turned).
void expect_pixels_of_ffmpeg(const fs::path& path, int most = 2) {
  SCOPED_TRACE(path.string());
  VideoReader video(path, {.threads = 2});
  const auto frames = all_frames(video);
  const std::string theirs = ffmpeg_rgb(path, video.stream().stream_index);
  ASSERT_FALSE(frames.empty());
  ASSERT_EQ(frames.size() * frames[0].rgb.size(), theirs.size());
  const std::int64_t height = frames[0].shape[0], width = frames[0].shape[1];
  int largest = 0, largest_beside_edges = 0;
  for (std::size_t i = 0; i < theirs.size(); ++i) {
    const auto at = i % frames[0].rgb.size();
    const auto ours = static_cast<unsigned char>(frames[i / frames[0].rgb.size()].rgb[at]);
    const auto y = static_cast<std::int64_t>(at) / 3 / width, x = static_cast<std::int64_t>(at) / 3 % width;
    int& largest_here = x == 2 || y == 2 || x == width - 3 || y == height - 3 ? largest_beside_edges : largest;
    largest_here = std::max(largest_here, std::abs(ours - static_cast<unsigned char>(theirs[i])));
  }
  EXPECT_LE(largest, most);
  EXPECT_LE(largest_beside_edges, 12);
}

TEST_F(VideoRgb, EachPixelFormatIsConvertedAsFfmpegDoes) {
  for (const char* format : {"yuv420p", "yuv422p", "yuv444p", "yuv411p", "yuv420p10le", "yuv422p10le", "yuv444p10le",
                             "yuv444p16le", "yuva420p", "gray", "gray10le", "gray16le", "gbrp", "gbrp10le", "bgr0"})
    expect_pixels_of_ffmpeg(clip(std::string(format) + ".mkv", std::string("-c:v ffv1 -pix_fmt ") + format, "101x67"));
  expect_pixels_of_ffmpeg(clip("rgb.avi", "-c:v rawvideo -pix_fmt bgr24", "101x67"));
  expect_pixels_of_ffmpeg(clip("full.avi", "-c:v mjpeg -pix_fmt yuvj422p"));
  expect_pixels_of_ffmpeg(clip("palette.avi", "-c:v png -pix_fmt pal8"));
}

TEST_F(VideoRgb, SmallAndNarrowImagesAreConvertedAsFfmpegDoes) {
  for (const char* size : {"16:16", "17:16", "16:17", "2:2", "1:1", "3:200", "200:3", "30:50"})
    expect_pixels_of_ffmpeg(clip("small.mkv", std::string("-c:v ffv1 -pix_fmt yuv420p -vf scale=") + size));
}

TEST_F(VideoRgb, MatrixAndRangeOfTheStreamAreUsed) {
  for (const char* matrix : {"bt709", "smpte170m", "bt2020nc"})
    for (const char* range : {"tv", "pc"})
      expect_pixels_of_ffmpeg(
          clip(std::string(matrix) + range + ".mkv",
               std::string("-c:v libx264 -qp 0 -pix_fmt yuv420p -colorspace ") + matrix + " -color_range " + range));
}

TEST_F(VideoRgb, PureColoursComeBack) {
  // BT.709, 16 to 235: pure red is Y 63, Cb 102, Cr 240.   Source: ITU-R BT.709-6, section 3.
  const fs::path path =
      clip("red.mkv",
           "-vf 'geq=lum=63:cb=102:cr=240,setparams=range=tv:colorspace=bt709' -c:v ffv1 -pix_fmt yuv420p "
           "-colorspace bt709 -color_range tv");
  VideoReader video(path);
  EXPECT_EQ(video.stream().colour_matrix, "bt709");
  VideoFrame frame;
  ASSERT_TRUE(video.next(frame));
  for (std::int64_t i = 0; i < frame.rgb.count(); i += 3) {
    ASSERT_NEAR(frame.rgb.as<std::uint8_t>()[i], 255, 2) << i;
    ASSERT_NEAR(frame.rgb.as<std::uint8_t>()[i + 1], 0, 2) << i;
    ASSERT_NEAR(frame.rgb.as<std::uint8_t>()[i + 2], 0, 2) << i;
  }
}

/// Returns an MP4 file whose track is shown turned clockwise: the upper left of the matrix in its header is (a, b; c,
/// d) as 16.16 numbers. How one asks ffmpeg for it differs between 5 and 7.   Source: ISO/IEC 14496-12, section 8.3.2.
std::string turned_clockwise(std::string mp4, int degrees) {
  const std::size_t header = mp4.find("tkhd");  // of version 0, the matrix 40 bytes behind these letters
  if (header == std::string::npos || mp4.find("tkhd", header + 4) != std::string::npos || mp4.at(header + 4) != 0)
    throw std::runtime_error("not one track with a header of version 0");
  const int sine = degrees == 90 ? 1 : degrees == 270 ? -1 : 0, cosine = degrees == 180 ? -1 : 0;
  const auto put = [&](std::size_t place, int number) {
    const auto bits = static_cast<std::uint32_t>(number * 65536);
    for (std::size_t byte = 0; byte < 4; ++byte)
      mp4.at(header + 44 + 4 * place + byte) = static_cast<char>(bits >> (24 - 8 * byte));
  };
  put(0, cosine), put(1, sine), put(3, -sine), put(4, cosine);
  return mp4;
}

TEST_F(VideoRgb, ATurnedClipHasThePixelsThatFfmpegShows) {
  const fs::path stored = clip("stored.mp4", "-c:v libx264 -qp 0", "96x64");
  for (const int degrees : {90, 180, 270}) {
    const fs::path path = folder() / ("turned_" + std::to_string(degrees) + ".mp4");
    write_bytes(path, turned_clockwise(read_bytes(stored), degrees));
    const VideoReader video(path);
    EXPECT_EQ(video.stream().orientation.clockwise_degrees(), degrees);
    EXPECT_EQ(video.stream().width, degrees == 180 ? 96 : 64);
    // ffmpeg turns before it converts, so chroma overshoot is cut along the other axis.
    expect_pixels_of_ffmpeg(path, 6);
  }
}

TEST_F(VideoRgb, TheNumberOfThreadsChangesNoPixel) {
  const fs::path path = clip("threads.mp4", "-c:v libx264", "322x242");
  VideoReader one(path, {.threads = 1}), four(path, {.threads = 4});
  const auto a = all_frames(one), b = all_frames(four);
  ASSERT_EQ(a.size(), b.size());
  for (std::size_t i = 0; i < a.size(); ++i) EXPECT_TRUE(a[i].rgb == b[i].rgb) << i;
}

TEST_F(VideoRgb, ThePixelsAspectIsTold) {
  EXPECT_EQ(VideoReader(clip("wide.mp4", "-vf setsar=4/3 -c:v libx264")).stream().sample_aspect, (Rational{4, 3}));
  EXPECT_EQ(VideoReader(clip("square.mp4", "-c:v libx264")).stream().sample_aspect, (Rational{1, 1}));
}

}  // namespace
}  // namespace voxshard
