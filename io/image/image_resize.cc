#include "io/image/image_resize.h"

#include <algorithm>
#include <opencv2/core.hpp>
#include <opencv2/imgproc.hpp>

#include "io/image/opencv_threads.h"

namespace voxshard {
namespace {

void require_sizes(const Tensor& rgb, std::int64_t height, std::int64_t width) {
  ensure(rgb.dtype() == DType::kF32 && rgb.shape().axes() == 3 && rgb.shape()[2] == 3, "a picture is (H, W, 3) f32");
  ensure(height > 0 && width > 0 && rgb.count() > 0, "a picture has pixels before and after");
}

/// The two source indices around a new index, and the weight of the second.
struct Between {
  std::int64_t low, high;
  float share;
};

Between between(std::int64_t at, std::int64_t extent, std::int64_t new_extent) {
  const float place = static_cast<float>(at) * (static_cast<float>(extent) / static_cast<float>(new_extent));
  const auto low = std::min(static_cast<std::int64_t>(place), extent - 1);
  return {low, std::min(low + 1, extent - 1), place - static_cast<float>(low)};
}

}  // namespace

Tensor resized_as_tensorflow1(const Tensor& rgb, std::int64_t height, std::int64_t width) {
  require_sizes(rgb, height, width);
  const std::int64_t old_height = rgb.shape()[0], old_width = rgb.shape()[1];
  Tensor result(DType::kF32, {height, width, 3});
  const float* from = rgb.as<const float>();
  float* to = result.as<float>();
  for (std::int64_t y = 0; y < height; ++y) {
    const Between rows = between(y, old_height, height);
    for (std::int64_t x = 0; x < width; ++x) {
      const Between columns = between(x, old_width, width);
      for (std::int64_t c = 0; c < 3; ++c) {
        const auto along = [&](std::int64_t row) {
          const float left = from[3 * (row * old_width + columns.low) + c],
                      right = from[3 * (row * old_width + columns.high) + c];
          return left + (right - left) * columns.share;
        };
        const float top = along(rows.low);
        *to++ = top + (along(rows.high) - top) * rows.share;
      }
    }
  }
  return result;
}

Tensor resized(const Tensor& rgb, std::int64_t height, std::int64_t width) {
  require_sizes(rgb, height, width);
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
