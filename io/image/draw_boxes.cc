#include "io/image/draw_boxes.h"

#include <algorithm>
#include <cmath>
#include <opencv2/imgproc.hpp>

#include "io/image/opencv_threads.h"
#include "io/image/overlay.h"

namespace voxshard {
namespace {

constexpr int kFont = cv::FONT_HERSHEY_SIMPLEX;

struct Pen {
  int line_px;
  double letters;  // OpenCV's scale: 1 is about 22 px high
};

Pen pen_for(const cv::Mat& picture) {
  const int side = std::max(picture.rows, picture.cols);
  return {.line_px = std::max(1, side / 500), .letters = std::clamp(side / 1600.0, 0.35, 2.0)};
}

bool is_drawable(const CocoBox& b, const cv::Mat& picture) {
  for (const double v : {b.x, b.y, b.width, b.height})
    if (!std::isfinite(v)) return false;
  return b.width > 0 && b.height > 0 && b.x < picture.cols && b.y < picture.rows && b.x + b.width > 0 &&
         b.y + b.height > 0;
}

/// The pixels of a box, cut near the picture so that huge ones do not overflow.
cv::Rect pixels_of(const CocoBox& b, const cv::Mat& picture) {
  constexpr double kBeyond = 16;
  const auto pixel = [](double edge, int limit) {
    return static_cast<int>(std::lround(std::clamp(edge, -kBeyond, limit + kBeyond)));
  };
  const int x0 = pixel(b.x, picture.cols), x1 = pixel(b.x + b.width, picture.cols);
  const int y0 = pixel(b.y, picture.rows), y1 = pixel(b.y + b.height, picture.rows);
  return {x0, y0, std::max(1, x1 - x0), std::max(1, y1 - y0)};
}

std::string printable(std::string text) {
  for (char& c : text)
    if (c < ' ' || c > '~') c = '?';
  return text;
}

void draw_caption(cv::Mat& picture, const cv::Rect& box, const std::string& text, const cv::Scalar& colour,
                  const Pen& pen) {
  int below = 0;
  const cv::Size letters = cv::getTextSize(text, kFont, pen.letters, pen.line_px, &below);
  const int height = letters.height + below + 2 * pen.line_px;
  const int left = std::clamp(box.x, 0, std::max(0, picture.cols - letters.width));
  const int top = std::clamp(box.y >= height ? box.y - height : box.y, 0, std::max(0, picture.rows - height));
  cv::rectangle(picture, cv::Rect(left, top, letters.width, height), colour, cv::FILLED);
  const double light = 0.299 * colour[0] + 0.587 * colour[1] + 0.114 * colour[2];  // luma of BT.601
  const cv::Scalar ink = light > 128 ? cv::Scalar(0, 0, 0) : cv::Scalar(255, 255, 255);
  cv::putText(picture, text, {left, top + pen.line_px + letters.height}, kFont, pen.letters, ink, pen.line_px,
              cv::LINE_AA);
}

}  // namespace

void draw_boxes(Tensor& rgb, std::span<const DrawnBox> boxes) {
  ensure(rgb.dtype() == DType::kU8 && rgb.shape().rank() == 3 && rgb.shape()[2] == 3,
         "boxes are drawn into (H, W, 3) u8");
  opencv_on_this_thread();
  cv::Mat picture(static_cast<int>(rgb.shape()[0]), static_cast<int>(rgb.shape()[1]), CV_8UC3, rgb.data());
  const Pen pen = pen_for(picture);
  for (const DrawnBox& drawn : boxes) {
    if (!is_drawable(drawn.box, picture)) continue;
    const auto rgb_of = class_colour(drawn.colour);
    const cv::Scalar colour(rgb_of[0], rgb_of[1], rgb_of[2]);
    const cv::Rect box = pixels_of(drawn.box, picture);
    cv::rectangle(picture, box, colour, pen.line_px);
    if (!drawn.caption.empty()) draw_caption(picture, box, printable(drawn.caption), colour, pen);
  }
}

}  // namespace voxshard
