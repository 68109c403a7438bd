#include "pipelines/tasks/classification/samples/clip_reader.h"

#include <algorithm>

namespace voxshard {
namespace {

/// Converts an RGB frame (H, W, 3) u8 to (H, W, C) f32, 0 to 1.
Tensor frame_intensities(const Tensor& rgb, const ClassPreparation& preparation) {
  Tensor image(DType::kF32, rgb.shape());
  std::transform(rgb.as<std::uint8_t>(), rgb.as<std::uint8_t>() + rgb.count(), image.as<float>(),
                 [](std::uint8_t value) { return static_cast<float>(value) / 255.0F; });
  return at_size(image_intensities(std::move(image), preparation), preparation);
}

}  // namespace

bool read_frame(VideoReader& video, std::int64_t number, VideoFrame& frame) {
  if (!video.read(number, frame)) return false;
  if (frame.rgb.shape() == Shape{video.stream().height, video.stream().width, 3}) return true;
  frame.rgb = {};  // not held: it may be far larger
  return false;
}

Tensor clip_intensities(VideoReader& video, std::int64_t first, const ClassPreparation& p, std::int64_t* repeated) {
  ensure(first >= 0 && first + (p.clip_length - 1) * p.clip_stride < video.index().size(), "a clip lies in its video");
  Tensor clip;
  VideoFrame frame;
  std::int64_t missing = 0, values = 0;
  const auto repeat = [&](std::int64_t from, std::int64_t to) {
    std::copy_n(clip.as<float>() + from * values, values, clip.as<float>() + to * values);
  };
  for (std::int64_t t = 0; t < p.clip_length; ++t) {
    Tensor image;
    if (read_frame(video, first + t * p.clip_stride, frame)) image = frame_intensities(frame.rgb, p);
    if (image.empty()) {
      ++missing;
      if (!clip.empty()) repeat(t - 1, t);
      continue;
    }
    const bool begins = clip.empty();
    if (begins) {
      const Shape& of_frame = image.shape();
      values = image.count();
      clip = Tensor(DType::kF32, {p.clip_length, of_frame[0], of_frame[1], of_frame[2]});
    }
    std::copy_n(image.as<float>(), values, clip.as<float>() + t * values);
    for (std::int64_t before = 0; begins && before < t; ++before) repeat(t, before);
  }
  if (clip.empty())
    throw Error(ErrorKind::kInput, "E_CLIP",
                "[input] " + video.path().string() + ": of the clip of frames " + std::to_string(first) + " to " +
                    std::to_string(first + (p.clip_length - 1) * p.clip_stride) +
                    " not one decodes in the size of the header; copy the video again from its source");
  if (repeated != nullptr) *repeated += missing;
  return clip;
}

Tensor clip_frame(const Tensor& rgb, const ClassPreparation& preparation) {
  Tensor sample = frame_intensities(rgb, preparation);
  normalise(sample, preparation);
  return sample;
}

Tensor read_clip(VideoReader& video, std::int64_t first, const ClassPreparation& preparation, std::int64_t* repeated) {
  Tensor clip = clip_intensities(video, first, preparation, repeated);
  normalise(clip, preparation);
  return clip;
}

}  // namespace voxshard
