// What `voxshard info` prints about a picture and about a data set of pictures with boxes.
//
//   cells.jpg
//     size         480x640 pixels, JPEG, 3 channels of 8 bits, EXIF orientation 6
#pragma once

#include <string>

#include "pipelines/tasks/detection/detection_info.h"

namespace voxshard {

std::string picture_text(const PictureInfo& info);
std::string detection_set_text(const DetectionSetInfo& info);

}  // namespace voxshard
