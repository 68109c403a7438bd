#include "io/image/image_resize.h"

#include <opencv2/core.hpp>
#include <opencv2/imgproc.hpp>

#include "io/image/opencv_threads.h"

namespace voxshard {

Tensor resized(const Tensor& rgb, std::int64_t height, std::int64_t width) {
  ensure(rgb.dtype() == DType::kF32 && rgb.shape().rank() == 3 && rgb.shape()[2] == 3, "a picture is (H, W, 3) f32");
  ensure(height > 0 && width > 0 && rgb.count() > 0, "a picture has pixels before and after");
  const auto old_height = static_cast<int>(rgb.shape()[0]), old_width = static_cast<int>(rgb.shape()[1]);
  Tensor result(DType::kF32, {height, width, 3});
  const cv::Mat from(old_height, old_width, CV_32FC3, rgb.data());
  cv::Mat to(static_cast<int>(height), static_cast<int>(width), CV_32FC3, result.data());
  const bool shrinks = height < old_height || width < old_width;
  opencv_on_this_thread();
  cv::resize(from, to, to.size(), 0, 0, shrinks ? cv::INTER_AREA : cv::INTER_LINEAR);
  return result;
}

}  // namespace voxshard
