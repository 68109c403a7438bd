#include "pipelines/tasks/detection/samples/augment_image.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>

#include "io/image/image_resize.h"
#include "pipelines/tasks/detection/samples/image_preparation.h"

namespace voxshard {
namespace {

/// Mirrors left to right.
void mirror(AugmentedImage& image) {
  const std::int64_t height = image.pixels.shape()[0], width = image.pixels.shape()[1];
  float* pixels = image.pixels.as<float>();
  for (std::int64_t y = 0; y < height; ++y)
    for (std::int64_t x = 0; x < width / 2; ++x)
      std::swap_ranges(pixels + 3 * (y * width + x), pixels + 3 * (y * width + x + 1),
                       pixels + 3 * (y * width + width - 1 - x));
  for (auto& b : image.boxes) b.box.x = static_cast<double>(width) - b.box.x - b.box.width;
}

void resize(AugmentedImage& image, double factor, const Dims& output_size) {
  const std::int64_t height = image.pixels.shape()[0], width = image.pixels.shape()[1];
  const auto scaled = [&](std::int64_t side) {
    return std::max<std::int64_t>(1, std::llround(static_cast<double>(side) * factor));
  };
  const Dims size = output_size.empty()
                        ? Dims{scaled(height), scaled(width)}
                        : fit_into({height, width}, {scaled(output_size[0]), scaled(output_size[1])}).size;
  if (size == Dims{height, width}) return;
  image.pixels = (output_size.empty() ? resized : resized_as_tensorflow1)(image.pixels, size[0], size[1]);
  const double by_y = static_cast<double>(size[0]) / static_cast<double>(height);
  const double by_x = static_cast<double>(size[1]) / static_cast<double>(width);
  for (auto& b : image.boxes) {
    b.box = {.x = b.box.x * by_x, .y = b.box.y * by_y, .width = b.box.width * by_x, .height = b.box.height * by_y};
    b.area *= by_x * by_y;
  }
}

/// Mirrors top to bottom.
void mirror_vertically(AugmentedImage& image) {
  const std::int64_t height = image.pixels.shape()[0], row = 3 * image.pixels.shape()[1];
  float* pixels = image.pixels.as<float>();
  for (std::int64_t y = 0; y < height / 2; ++y)
    std::swap_ranges(pixels + y * row, pixels + (y + 1) * row, pixels + (height - 1 - y) * row);
  for (auto& b : image.boxes) b.box.y = static_cast<double>(height) - b.box.y - b.box.height;
}

}  // namespace

AugmentedImage augment_image(AugmentedImage image, const ImageAugmentation& options, const AugmentationKey& key,
                             const Dims& output_size) {
  const Tensor& pixels = image.pixels;
  ensure(pixels.dtype() == DType::kF32 && pixels.shape().axes() == 3 && pixels.shape()[2] == 3,
         "a picture to be changed is (H, W, 3) f32");
  const ImageChange change = draw_image_change(options, key);
  if (change.mirrored) mirror(image);
  if (change.mirrored_vertically) mirror_vertically(image);
  resize(image, change.factor, output_size);
  if (options.recolours()) recolour(image.pixels, change.colour);
  image.degrees = change.degrees;
  return image;
}

PixelBox rotated_box(const PixelBox& in_image, const ImagePart& part, double degrees) {
  const double angle = degrees * std::numbers::pi / 180, cosine = std::cos(angle), sine = std::sin(angle);
  const double half_y = static_cast<double>(part.extent[0]) / 2, half_x = static_cast<double>(part.extent[1]) / 2;
  constexpr double kFar = std::numeric_limits<double>::infinity();
  PixelBox hull{.y0 = kFar, .x0 = kFar, .y1 = -kFar, .x1 = -kFar};
  for (const double corner_y : {in_image.y0, in_image.y1})
    for (const double corner_x : {in_image.x0, in_image.x1}) {
      const double from_y = corner_y - static_cast<double>(part.begin[0]) - half_y;
      const double from_x = corner_x - static_cast<double>(part.begin[1]) - half_x;
      // the inverse of map_of_part(), which goes from the sample to the image
      const double y = half_y + cosine * from_y + sine * from_x, x = half_x - sine * from_y + cosine * from_x;
      hull = {std::min(hull.y0, y), std::min(hull.x0, x), std::max(hull.y1, y), std::max(hull.x1, x)};
    }
  return hull;
}

}  // namespace voxshard
