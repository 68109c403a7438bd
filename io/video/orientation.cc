#include "io/video/orientation.h"

#include <algorithm>
#include <cstdlib>
#include <opencv2/core.hpp>

#include "libcore/base/error.h"

namespace voxshard {
namespace {

cv::Mat as_mat(const Tensor& rgb) {
  return {static_cast<int>(rgb.shape()[0]), static_cast<int>(rgb.shape()[1]), CV_8UC3, rgb.data()};
}

}  // namespace

int VideoOrientation::clockwise_degrees() const {
  if (!transpose) return flip_y ? 180 : 0;
  return flip_x ? 90 : 270;
}

VideoOrientation orientation_from_matrix(const std::array<std::int32_t, 9>& matrix) {
  const std::int64_t a = matrix[0], b = matrix[1], c = matrix[3], d = matrix[4];
  const std::int64_t along = std::abs(a) + std::abs(d), across = std::abs(b) + std::abs(c);
  VideoOrientation o;
  o.transpose = across > along;
  o.flip_x = (o.transpose ? c : a) < 0;
  o.flip_y = (o.transpose ? b : d) < 0;
  o.exact = 50 * std::min(along, across) <= std::max(along, across);  // about one degree
  return o;
}

void turn(const Tensor& stored, const VideoOrientation& o, Tensor& upright) {
  ensure(stored.dtype() == DType::kU8 && stored.shape().axes() == 3 && stored.shape()[2] == 3,
         "a picture is (H, W, 3) u8");
  const std::int64_t rows = stored.shape()[o.transpose ? 1 : 0], columns = stored.shape()[o.transpose ? 0 : 1];
  const Shape shape{rows, columns, 3};
  if (upright.empty() || upright.dtype() != DType::kU8 || upright.shape() != shape) upright = Tensor(DType::kU8, shape);
  const cv::Mat from = as_mat(stored);
  cv::Mat to = as_mat(upright);
  if (o.transpose)
    cv::transpose(from, to);
  else
    from.copyTo(to);
  if (o.flip_x || o.flip_y) cv::flip(to, to, o.flip_x && o.flip_y ? -1 : o.flip_x ? 1 : 0);
}

}  // namespace voxshard
