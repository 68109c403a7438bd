#include "io/image/draw_boxes.h"

#include <algorithm>
#include <cmath>
#include <opencv2/imgproc.hpp>
#include <optional>
#include <vector>

#include "io/image/class_scalar.h"
#include "io/image/draw_caption.h"
#include "io/image/opencv_threads.h"
#include "io/image/overlay.h"

namespace voxshard {
namespace {

bool is_drawable(const CocoBox& b, const cv::Mat& image) {
  for (const double v : {b.x, b.y, b.width, b.height})
    if (!std::isfinite(v)) return false;
  return b.width > 0 && b.height > 0 && b.x < image.cols && b.y < image.rows && b.x + b.width > 0 && b.y + b.height > 0;
}

/// The pixels of a box, cut near the image so that huge ones do not overflow.
cv::Rect pixels_of(const CocoBox& b, const cv::Mat& image) {
  constexpr double kBeyond = 16;
  const auto pixel = [](double edge, int limit) {
    return static_cast<int>(std::lround(std::clamp(edge, -kBeyond, limit + kBeyond)));
  };
  const int x0 = pixel(b.x, image.cols), x1 = pixel(b.x + b.width, image.cols);
  const int y0 = pixel(b.y, image.rows), y1 = pixel(b.y + b.height, image.rows);
  return {x0, y0, std::max(1, x1 - x0), std::max(1, y1 - y0)};
}

/// Returns the place of a caption that meets none of `taken`: its own, or the nearest above or below it; none where the
/// image is full there.
std::optional<CaptionPlace> free_place(const Dims& shape, const DrawnCaption& caption,
                                       const std::vector<CaptionPlace>& taken) {
  const CaptionPlace own = caption_place(shape, caption);
  const int last = static_cast<int>(shape[0]) - own.height;
  for (int step = 0; step * own.height <= static_cast<int>(shape[0]); ++step)
    for (const int sign : {-1, 1}) {
      CaptionPlace place = own;
      place.top += sign * step * own.height;
      if (place.top < 0 || (place.top > last && step > 0)) continue;
      if (std::ranges::none_of(taken, [&](const CaptionPlace& other) { return place.meets(other); })) return place;
    }
  return std::nullopt;
}

}  // namespace

void draw_boxes(Tensor& rgb, std::span<const DrawnBox> boxes) {
  ensure(rgb.dtype() == DType::kU8 && rgb.shape().axes() == 3 && rgb.shape()[2] == 3,
         "boxes are drawn into (H, W, 3) u8");
  opencv_on_this_thread();
  cv::Mat image(static_cast<int>(rgb.shape()[0]), static_cast<int>(rgb.shape()[1]), CV_8UC3, rgb.data());
  const int line_px = drawn_line_px(rgb.shape());
  std::vector<DrawnCaption> captions;
  for (const DrawnBox& drawn : boxes) {
    if (!is_drawable(drawn.box, image)) continue;
    const cv::Scalar colour = class_scalar<cv::Scalar>(drawn.colour);
    const cv::Rect box = pixels_of(drawn.box, image);
    cv::rectangle(image, box, colour, line_px);
    if (!drawn.caption.empty())
      captions.push_back({.x = box.x, .y = box.y, .colour = drawn.colour, .text = drawn.caption});
  }
  std::vector<CaptionPlace> taken;
  for (auto caption = captions.rbegin(); caption != captions.rend(); ++caption)  // those on top choose first
    if (const auto place = free_place(rgb.shape(), *caption, taken)) {
      draw_caption_at(rgb, *caption, *place);
      taken.push_back(*place);
    }
}

}  // namespace voxshard
