#include "io/image/image.h"

#include <cstring>

#include <opencv2/core.hpp>
#include <opencv2/imgproc.hpp>

#include "io/files/atomic_file.h"
#include "io/files/file_error.h"
#include "io/files/now_reading.h"
#include "io/image/codecs.h"
#include "io/image/opencv_threads.h"

namespace voxshard {
namespace {

namespace fs = std::filesystem;

constexpr std::int64_t kMostSetting = std::int64_t{1} << 31;

/// Returns a tensor (H, W, 3) as an OpenCV image that shares its memory.
cv::Mat shared_view(const Tensor& rgb) {
  const int type = rgb.dtype() == DType::kF32 ? CV_32FC3 : CV_8UC3;
  return {static_cast<int>(rgb.shape()[0]), static_cast<int>(rgb.shape()[1]), type, rgb.data()};
}

}  // namespace

void require_pixels_within(std::int64_t most_pixels, std::int64_t width, std::int64_t height, const fs::path& image) {
  if (height > 0 && width > most_pixels / height) {
    const bool may_be_read = width <= kMostSetting / height;  // the option goes no further
    throw input_error(image,
                      "has " + std::to_string(width) + " x " + std::to_string(height) + " pixels; at most " +
                          std::to_string(most_pixels) + " are read",
                      "cut it into smaller pictures" +
                          (may_be_read ? ", or raise {most-pixels} to " + std::to_string(width * height) : ""),
                      "E_SIZE");
  }
}

Tensor read_rgb(const fs::path& path, const ImageReadOptions& options) {
  ensure(options.dtype == DType::kU8 || options.dtype == DType::kF32, "a picture is read as u8 or f32");
  const NowReading reading(path);
  const std::string bytes = read_image_bytes(path);
  const ImageHeader h = parse_image_header(bytes, path);
  require_pixels_within(options.most_pixels, h.width, h.height, path);
  opencv_on_this_thread();
  cv::Mat bgr = decoded_picture(bytes);
  if (bgr.empty() || bgr.channels() != 3 || (bgr.depth() != CV_8U && bgr.depth() != CV_16U))
    throw input_error(path, std::string("is a damaged ") + format_name(h.format) + ", or one of an unusual kind",
                      "copy it again from its source, or convert it");
  if (bgr.rows != h.height || bgr.cols != h.width)
    throw input_error(path, "decodes to another size than its header says", "copy it again from its source");
  Tensor rgb(options.dtype, {h.height, h.width, 3});
  cv::Mat result = shared_view(rgb);
  const bool wide = bgr.depth() == CV_16U, real = options.dtype == DType::kF32;
  cv::cvtColor(bgr, bgr, cv::COLOR_BGR2RGB);
  bgr.convertTo(result, result.type(), (real ? 1.0 : 255.0) / (wide ? 65535.0 : 255.0));
  ensure(result.data == static_cast<void*>(rgb.data()), "a picture is decoded into its tensor");
  return rgb;
}

std::string encoded_rgb(const Tensor& rgb, const std::string& ending) {
  ensure(rgb.dtype() == DType::kU8 && rgb.shape().axes() == 3 && rgb.shape()[2] == 3, "a picture is (H, W, 3) u8");
  opencv_on_this_thread();
  cv::Mat bgr;
  cv::cvtColor(shared_view(rgb), bgr, cv::COLOR_RGB2BGR);
  return encoded_picture(ending, bgr);
}

void load_codecs() {
  Tensor pixel(DType::kU8, {1, 1, 3});
  std::memset(pixel.data(), 0, 3);
  if (decoded_picture(encoded_rgb(pixel, ".png")).empty())
    throw Error(ErrorKind::kConfig, "[image] the codecs of OpenCV cannot read what they wrote: install them anew");
}

void write_rgb(const fs::path& path, const Tensor& rgb) {
  if (!is_image_name(path))
    throw Error(ErrorKind::kOutput, "[output] " + path.string() + ": expected a name that ends in .png, .jpg or .tif");
  write_text_atomically(path, encoded_rgb(rgb, path.extension().string()));
}

}  // namespace voxshard
