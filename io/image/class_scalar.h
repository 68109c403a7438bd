// The colour of a class as OpenCV's drawing takes it.
#pragma once

#include <opencv2/core.hpp>

#include "io/image/overlay.h"

namespace voxshard {

inline cv::Scalar class_scalar(int label) {
  const auto c = class_colour(label);
  return {static_cast<double>(c[0]), static_cast<double>(c[1]), static_cast<double>(c[2])};
}

}  // namespace voxshard
