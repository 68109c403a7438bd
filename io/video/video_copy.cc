#include "io/video/video_copy.h"

#include <algorithm>

namespace voxshard {

VideoCopy::VideoCopy(const std::filesystem::path& path, const VideoReader& video, int threads)
    : size_{video.stream().height, video.stream().width, 3},
      first_ticks_(std::min<std::int64_t>(0, video.index()[0].pts_ticks)),
      writer_(path, {.width = video.stream().width,
                     .height = video.stream().height,
                     .time_base = video.index().time_base,
                     .sample_aspect = video.stream().sample_aspect,
                     .threads = threads}) {}

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
