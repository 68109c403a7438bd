// Frames of more pixels than are read are refused by the header of their video.
#include "io/image/image_reader.h"
#include "tests/io/video/video_scene.h"

namespace voxshard {
namespace {

void expect_too_large(const std::function<void()>& body) {
  try {
    body();
    ADD_FAILURE() << "read what is too large";
  } catch (const Error& e) {
    EXPECT_STREQ(e.code(), "E_SIZE") << e.what();
    EXPECT_THAT(std::string(e.what()), testing::HasSubstr("96 x 64 pixels; at most 6143 are read"));
  }
}

TEST(VideoReader, FramesOfTooManyPixelsAreRefused) {
  REQUIRE_FFMPEG();
  ScratchFolder dir;
  const fs::path clip = make_clip(dir.path(), "a.mkv", "-c:v ffv1 -pix_fmt yuv420p");
  EXPECT_EQ(VideoReader(clip, {.most_pixels = 96 * 64}).index().size(), 25);
  expect_too_large([&] { VideoReader(clip, {.most_pixels = 96 * 64 - 1}); });
  const ImageReader images({.most_pixels = 96 * 64 - 1});
  expect_too_large([&] { images.size(frame_path(clip, 3)); });
  expect_too_large([&] { images.read(frame_path(clip, 3)); });
}

}  // namespace
}  // namespace voxshard
