#include "io/image/draw_caption.h"

#include <algorithm>
#include <opencv2/imgproc.hpp>
#include <utility>

#include "io/image/class_scalar.h"
#include "io/image/opencv_threads.h"
#include "io/image/overlay.h"

namespace voxshard {
namespace {

constexpr int kCaptionFont = cv::FONT_HERSHEY_SIMPLEX;

/// Returns the letter size for an image, in OpenCV's scale: 1 is about 22 px high.
double letters_for(const Dims& shape) {
  return std::clamp(static_cast<double>(std::max(shape[0], shape[1])) / 1600.0, 0.35, 2.0);
}

/// Returns the size of a text, and how far letters reach below their line.
std::pair<cv::Size, int> letters_of(const Dims& shape, const std::string& text) {
  int below = 0;
  const cv::Size letters = cv::getTextSize(text, kCaptionFont, letters_for(shape), drawn_line_px(shape), &below);
  return {letters, below};
}

}  // namespace

std::string printable_text(std::string text) {
  for (char& c : text)
    if (c < ' ' || c > '~') c = '?';
  return text;
}

int drawn_line_px(const Dims& shape) { return std::max(1, static_cast<int>(std::max(shape[0], shape[1]) / 500)); }

CaptionPlace caption_place(const Dims& shape, const DrawnCaption& caption) {
  const auto [letters, below] = letters_of(shape, printable_text(caption.text));
  const int rows = static_cast<int>(shape[0]), columns = static_cast<int>(shape[1]),
            height = letters.height + below + 2 * drawn_line_px(shape), x = static_cast<int>(caption.x),
            y = static_cast<int>(caption.y);
  return {.left = std::clamp(x, 0, std::max(0, columns - letters.width)),
          .top = std::clamp(y >= height ? y - height : y, 0, std::max(0, rows - height)),
          .width = letters.width,
          .height = height};
}

void draw_caption(Tensor& rgb, const DrawnCaption& caption) {
  draw_caption_at(rgb, caption, caption_place(rgb.shape(), caption));
}

void draw_caption_at(Tensor& rgb, const DrawnCaption& caption, const CaptionPlace& place) {
  ensure(rgb.dtype() == DType::kU8 && rgb.shape().axes() == 3 && rgb.shape()[2] == 3,
         "captions are drawn into (H, W, 3) u8");
  opencv_on_this_thread();
  cv::Mat image(static_cast<int>(rgb.shape()[0]), static_cast<int>(rgb.shape()[1]), CV_8UC3, rgb.data());
  const std::string text = printable_text(caption.text);
  const cv::Scalar colour = class_scalar<cv::Scalar>(caption.colour);
  const int line_px = drawn_line_px(rgb.shape());
  const cv::Size letters = letters_of(rgb.shape(), text).first;
  cv::rectangle(image, cv::Rect(place.left, place.top, place.width, place.height), colour, cv::FILLED);
  const double light = 0.299 * colour[0] + 0.587 * colour[1] + 0.114 * colour[2];  // luma of BT.601
  const cv::Scalar ink = light > 128 ? cv::Scalar(0, 0, 0) : cv::Scalar(255, 255, 255);
  cv::putText(image, text, {place.left, place.top + line_px + letters.height}, kCaptionFont, letters_for(rgb.shape()),
              ink, line_px, cv::LINE_AA);
}

}  // namespace voxshard
