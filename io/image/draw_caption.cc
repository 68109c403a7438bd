#include "io/image/draw_caption.h"

#include <algorithm>
#include <opencv2/imgproc.hpp>

#include "io/image/class_scalar.h"
#include "io/image/opencv_threads.h"
#include "io/image/overlay.h"

namespace voxshard {
namespace {

constexpr int kCaptionFont = cv::FONT_HERSHEY_SIMPLEX;

/// Returns the letter size for an image, in OpenCV's scale: 1 is about 22 px high.
double letters_for(const cv::Mat& image) { return std::clamp(std::max(image.rows, image.cols) / 1600.0, 0.35, 2.0); }

}  // namespace

std::string printable_text(std::string text) {
  for (char& c : text)
    if (c < ' ' || c > '~') c = '?';
  return text;
}

int drawn_line_px(const Dims& shape) { return std::max(1, static_cast<int>(std::max(shape[0], shape[1]) / 500)); }

void draw_caption(Tensor& rgb, const DrawnCaption& caption) {
  ensure(rgb.dtype() == DType::kU8 && rgb.shape().axes() == 3 && rgb.shape()[2] == 3,
         "captions are drawn into (H, W, 3) u8");
  opencv_on_this_thread();
  cv::Mat image(static_cast<int>(rgb.shape()[0]), static_cast<int>(rgb.shape()[1]), CV_8UC3, rgb.data());
  const std::string text = printable_text(caption.text);
  const cv::Scalar colour = class_scalar<cv::Scalar>(caption.colour);
  const int line_px = drawn_line_px(rgb.shape()), x = static_cast<int>(caption.x), y = static_cast<int>(caption.y);
  int below = 0;
  const cv::Size letters = cv::getTextSize(text, kCaptionFont, letters_for(image), line_px, &below);
  const int height = letters.height + below + 2 * line_px;
  const int left = std::clamp(x, 0, std::max(0, image.cols - letters.width));
  const int top = std::clamp(y >= height ? y - height : y, 0, std::max(0, image.rows - height));
  cv::rectangle(image, cv::Rect(left, top, letters.width, height), colour, cv::FILLED);
  const double light = 0.299 * colour[0] + 0.587 * colour[1] + 0.114 * colour[2];  // luma of BT.601
  const cv::Scalar ink = light > 128 ? cv::Scalar(0, 0, 0) : cv::Scalar(255, 255, 255);
  cv::putText(image, text, {left, top + line_px + letters.height}, kCaptionFont, letters_for(image), ink, line_px,
              cv::LINE_AA);
}

}  // namespace voxshard
