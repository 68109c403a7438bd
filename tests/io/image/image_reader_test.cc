#include "io/image/image_reader.h"

#include "tests/io/video/video_scene.h"

namespace voxshard {
namespace {

bool same_pixels(const Tensor& a, const Tensor& b) {
  return a.dtype() == b.dtype() && a.shape() == b.shape() && compare(a.view(), b.view()).bit_equal;
}

TEST(ImageAddress, AFrameHasItsNumberBehindTheVideo) {
  const ImageAddress address = image_address("clips/a.mp4#frame=17");
  EXPECT_EQ(address.file, fs::path("clips/a.mp4"));
  EXPECT_EQ(address.frame, 17);
  EXPECT_EQ(frame_path("clips/a.mp4", 17), fs::path("clips/a.mp4#frame=17"));
}

TEST(ImageAddress, AnythingElseIsAFile) {
  for (const char* name : {"a.png", "a#frame=.png", "a.mp4#frame=", "a.mp4#frame=-1", "a.mp4#frame=1x", "#frame=1",
                           "a.mp4#frame=99999999999999999999", "a.mp4#frame= 1"}) {
    EXPECT_FALSE(image_address(name).frame) << name;
    EXPECT_EQ(image_address(name).file, fs::path(name));
  }
}

TEST(ImageReader, AImageFileIsReadAsReadRgbDoes) {
  const ScratchFolder scratch;
  Tensor rgb(DType::kU8, {2, 3, 3});
  for (std::int64_t i = 0; i < rgb.count(); ++i) rgb.as<std::uint8_t>()[i] = static_cast<std::uint8_t>(10 * i);
  write_rgb(scratch.path() / "a.png", rgb);
  const ImageReader images;
  EXPECT_TRUE(same_pixels(images.read(scratch.path() / "a.png"), rgb));
  EXPECT_EQ(images.size(scratch.path() / "a.png").width, 3);
  expect_error(ErrorKind::kInput, "b.png", [&] { images.read(scratch.path() / "b.png"); });
}

class FramesOfClips : public VideoClips {
 protected:
  void SetUp() override {
    VideoClips::SetUp();
    if (IsSkipped()) return;
    video_ = clip("clip.mkv", "-c:v ffv1 -g 5");
    VideoReader reader(video_);
    for (VideoFrame frame; reader.next(frame);) frames_.push_back(frame.rgb);
    ASSERT_EQ(frames_.size(), 25u);
  }
  bool is_frame(const ImageReader& images, std::int64_t number) {
    return same_pixels(images.read(frame_path(video_, number)), frames_[number]);
  }
  fs::path video_;
  std::vector<Tensor> frames_;
};

TEST_F(FramesOfClips, AreThoseOfReadingThroughInAnyOrder) {
  const ImageReader images;
  for (const std::int64_t number : {7, 0, 24, 7, 8, 9, 3, 3, 23}) EXPECT_TRUE(is_frame(images, number)) << number;
}

TEST_F(FramesOfClips, DoNotDependOnTheCache) {
  for (const std::int64_t cache_bytes : {std::int64_t{0}, frames_[0].bytes(), 3 * frames_[0].bytes()}) {
    const ImageReader images({.cache_bytes = cache_bytes});
    for (const std::int64_t number : {1, 2, 1, 3, 4, 2, 1})
      EXPECT_TRUE(is_frame(images, number)) << cache_bytes << " " << number;
  }
}

TEST_F(FramesOfClips, AreTheSameWhenVideosAreClosedInBetween) {
  const fs::path other = clip("other.mkv", "-c:v ffv1", "32x32");
  const ImageReader images({.most_videos = 1, .cache_bytes = 0});
  for (const std::int64_t number : {4, 5, 2}) {
    EXPECT_TRUE(is_frame(images, number));
    EXPECT_EQ(images.read(frame_path(other, number)).shape(), (Shape{32, 32, 3}));
  }
}

TEST_F(FramesOfClips, AsFloatsAreFromZeroToOne) {
  const ImageReader images;
  const Tensor light = images.read(frame_path(video_, 3), {.dtype = DType::kF32});
  ASSERT_EQ(light.dtype(), DType::kF32);
  for (std::int64_t i = 0; i < light.count(); ++i)
    ASSERT_EQ(light.as<float>()[i], static_cast<float>(frames_[3].as<std::uint8_t>()[i]) / 255.0f) << i;
}

TEST_F(FramesOfClips, HaveTheSizeOfTheStream) {
  const ImageSize size = ImageReader().size(frame_path(video_, 3));
  EXPECT_EQ(size.width, 96);
  EXPECT_EQ(size.height, 64);
}

TEST_F(FramesOfClips, BeyondTheLastAreRefused) {
  expect_error(ErrorKind::kInput, "has 25 frames; expected a frame from 0 to 24",
               [&] { ImageReader().read(frame_path(video_, 25)); });
}

}  // namespace
}  // namespace voxshard
