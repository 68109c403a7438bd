// The colour of a class as a drawing library takes it.
//
//   cv::rectangle(image, box, class_scalar<cv::Scalar>(label));
#pragma once

#include "io/image/overlay.h"

namespace voxshard {

template <class Scalar>
Scalar class_scalar(int label) {
  const auto c = class_colour(label);
  return Scalar(c[0], c[1], c[2]);
}

}  // namespace voxshard
