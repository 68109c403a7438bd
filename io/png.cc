// Pictures as (H, W, 3) u8 tensors; OpenCV keeps blue first, so channels are swapped on both ways.
//
//   write_png("overlay.png", sheet);
// Called by the overlay report and by tests.
#include "io/png.h"

#include <opencv2/core.hpp>
#include <opencv2/imgcodecs.hpp>
#include <opencv2/imgproc.hpp>

#include "io/atomic_file.h"

namespace voxshard {

void write_png(const std::filesystem::path& path, const Tensor& rgb) {
  ensure(rgb.dtype() == DType::kU8 && rgb.shape().rank() == 3 && rgb.shape()[2] == 3, "a picture is (H, W, 3) u8");
  const cv::Mat view(static_cast<int>(rgb.shape()[0]), static_cast<int>(rgb.shape()[1]), CV_8UC3, rgb.data());
  cv::Mat bgr;
  cv::cvtColor(view, bgr, cv::COLOR_RGB2BGR);
  std::vector<unsigned char> bytes;
  cv::imencode(".png", bgr, bytes, {cv::IMWRITE_PNG_COMPRESSION, 6});
  write_text_atomically(path, {reinterpret_cast<const char*>(bytes.data()), bytes.size()});
}

Tensor read_png(const std::filesystem::path& path) {
  cv::Mat bgr;
  try {
    bgr = cv::imread(path.string(), cv::IMREAD_COLOR);
  } catch (const cv::Exception&) {
    bgr.release();
  }
  if (bgr.empty())
    throw Error(ErrorKind::kInput, "[input] " + path.string() + ": is missing or no readable picture; check the file");
  Tensor rgb(DType::kU8, {bgr.rows, bgr.cols, 3});
  cv::Mat view(bgr.rows, bgr.cols, CV_8UC3, rgb.data());
  cv::cvtColor(bgr, view, cv::COLOR_BGR2RGB);
  return rgb;
}

}  // namespace voxshard
