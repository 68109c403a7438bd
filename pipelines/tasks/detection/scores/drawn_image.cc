#include "pipelines/tasks/detection/scores/drawn_image.h"

#include <algorithm>
#include <cmath>
#include <span>

#include "io/image/image.h"
#include "io/image/image_resize.h"
#include "io/records/base64.h"

namespace voxshard {

Tensor small_copy(const Tensor& rgb) {
  const std::int64_t height = rgb.shape()[0], width = rgb.shape()[1], longest = std::max(height, width);
  const auto side = [&](std::int64_t extent) {
    return std::max<std::int64_t>(1, (extent * kMostDrawnSide + longest / 2) / longest);
  };
  const bool fits = longest <= kMostDrawnSide;
  const Tensor scaled = fits ? Tensor() : resized(rgb, side(height), side(width));
  const Tensor& from = fits ? rgb : scaled;
  Tensor small(DType::kU8, from.shape());
  const auto* values = from.as<const float>();
  std::transform(values, values + from.count(), small.as<std::uint8_t>(), [](float value) {
    return static_cast<std::uint8_t>(std::lround(255 * std::clamp(value, 0.0F, 1.0F)));
  });
  return small;
}

std::string jpeg_text(const Tensor& rgb) {
  const std::string bytes = encoded_rgb(rgb, ".jpg");
  return base64_text({reinterpret_cast<const std::uint8_t*>(bytes.data()), bytes.size()});
}

std::int64_t drawn_bytes(std::int64_t pixels, std::int64_t images) {
  // Bytes of a pixel: the scaled image in f32, its copy, what OpenCV encodes and the file, which with noise is as long;
  // of each kept one two copies in base 64 of at most that file.
  constexpr std::int64_t kMakingBytes = 12 + 3 + 3 + 3, kKeptBytes = 2 * 4;
  return std::min(pixels, kMostDrawnSide * kMostDrawnSide) * (kMakingBytes + images * kKeptBytes);
}

}  // namespace voxshard
