#include "pipelines/tasks/detection/samples/augment_image.h"

#include <algorithm>
#include <cmath>

#include "io/image/image_resize.h"
#include "libcore/base/rng.h"
#include "pipelines/tasks/detection/samples/image_preparation.h"

namespace voxshard {
namespace {

constexpr std::uint64_t kAugmentationDraws = 8;  // random numbers of one image, of which five are used

/// ITU-R BT.601.
double grey_of(const float* rgb) { return 0.299 * rgb[0] + 0.587 * rgb[1] + 0.114 * rgb[2]; }

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

struct ColourChange {
  double shift = 0, contrast = 1, saturation = 1;
};

void recolour(Tensor& rgb, const ColourChange& change) {
  const std::int64_t count = rgb.count() / 3;
  float* pixels = rgb.as<float>();
  double mean = 0;
  for (std::int64_t i = 0; i < count; ++i) mean += grey_of(pixels + 3 * i);
  mean /= static_cast<double>(std::max<std::int64_t>(1, count));
  for (std::int64_t i = 0; i < count; ++i) {
    float* p = pixels + 3 * i;
    const double grey = grey_of(p);
    for (int c = 0; c < 3; ++c) {
      const double colour = grey + (p[c] - grey) * change.saturation;
      p[c] = static_cast<float>(std::clamp(mean + (colour - mean) * change.contrast + change.shift, 0.0, 1.0));
    }
  }
}

}  // namespace

AugmentedImage augment_image(AugmentedImage image, const ImageAugmentation& options, const AugmentationKey& key) {
  const Tensor& pixels = image.pixels;
  ensure(pixels.dtype() == DType::kF32 && pixels.shape().axes() == 3 && pixels.shape()[2] == 3,
         "a picture to be changed is (H, W, 3) f32");
  ensure(options.scale[0] > 0 && options.scale[0] <= options.scale[1], "scales are positive, the lower one first");
  const RngKey rng{.seed = key.seed, .stream = rng_mix(rng_stream("augment_image") ^ rng_mix(key.image))};
  std::uint64_t draw = kAugmentationDraws * key.epoch;
  const auto uniform = [&] { return rng_uniform(rng, draw++); };
  const auto around = [&](double middle, double most) { return middle + most * (2 * uniform() - 1); };
  const bool mirrored = uniform() < options.mirror;
  const double factor = options.scale[0] * std::pow(options.scale[1] / options.scale[0], uniform());
  const ColourChange change{.shift = around(0, options.brightness),
                            .contrast = around(1, options.contrast),
                            .saturation = around(1, options.saturation)};
  if (mirrored) mirror(image);
  resize(image, factor, options.output_size);
  if (options.brightness > 0 || options.contrast > 0 || options.saturation > 0) recolour(image.pixels, change);
  return image;
}

}  // namespace voxshard
