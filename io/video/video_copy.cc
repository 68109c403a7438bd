#include "io/video/video_copy.h"

#include <algorithm>

namespace voxshard {

std::int64_t enlargement(std::int64_t height, std::int64_t width) {
  constexpr std::int64_t kLeastLongSide = 480, kMostTimes = 8;
  const std::int64_t longer = std::max<std::int64_t>(1, std::max(height, width));
  return std::clamp<std::int64_t>((kLeastLongSide + longer - 1) / longer, 1, kMostTimes);
}

VideoCopy::VideoCopy(const std::filesystem::path& path, const VideoReader& video, int threads)
    : times_(enlargement(video.stream().height, video.stream().width)),
      size_{times_ * video.stream().height, times_ * video.stream().width, 3},
      first_ticks_(std::min<std::int64_t>(0, video.index()[0].pts_ticks)),
      writer_(path, {.width = size_[1],
                     .height = size_[0],
                     .time_base = video.index().time_base,
                     .sample_aspect = video.stream().sample_aspect,
                     .threads = threads}) {}

Tensor VideoCopy::canvas(Tensor rgb) const {
  if (times_ == 1 || rgb.shape() != Shape({size_[0] / times_, size_[1] / times_, 3})) return rgb;
  Tensor large(DType::kU8, size_);
  const std::int64_t width = rgb.shape()[1];
  for (std::int64_t y = 0; y < size_[0]; ++y) {
    const std::uint8_t* from = rgb.as<std::uint8_t>() + 3 * (y / times_) * width;
    std::uint8_t* to = large.as<std::uint8_t>() + 3 * y * size_[1];
    for (std::int64_t x = 0; x < size_[1]; ++x) std::copy_n(from + 3 * (x / times_), 3, to + 3 * x);
  }
  return large;
}

bool VideoCopy::write(const Tensor& rgb, std::int64_t pts_ticks) {
  const std::int64_t ticks = pts_ticks - first_ticks_;  // times below 0 cannot be written
  if (rgb.shape() != size_ || ticks <= last_ticks_) return false;
  writer_.write(rgb, ticks);
  last_ticks_ = ticks;
  return true;
}

void VideoCopy::close(bool complete) {
  if (last_ticks_ >= 0) writer_.close(complete);
}

}  // namespace voxshard
