#include "pipelines/tasks/classification/demo/grey_video.h"

#include "io/video/video_writer.h"

namespace voxshard {

void write_grey_video(const std::filesystem::path& path, const Tensor& frames) {
  const std::int64_t height = frames.shape()[1], width = frames.shape()[2];
  VideoWriter out(path, {.width = width, .height = height});
  Tensor rgb(DType::kU8, {height, width, 3});
  for (std::int64_t t = 0; t < frames.shape()[0]; ++t) {
    const auto* grey = frames.as<std::uint8_t>() + t * height * width;
    for (std::int64_t i = 0; i < rgb.count(); ++i) rgb.as<std::uint8_t>()[i] = grey[i / 3];
    out.write(rgb, t);
  }
  out.close();
}

}  // namespace voxshard
