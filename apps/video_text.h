// What `voxshard info` prints about one video.
//
//   clip.mp4
//     size         1080x1920 pixels, stored 1920x1080, turned 90 degrees clockwise
#pragma once

#include <string>

#include "pipelines/tasks/detection/video_info.h"

namespace voxshard {

std::string video_text(const VideoInfo& info);

}  // namespace voxshard
