#include "pipelines/tasks/augmentation/colour_change.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>

namespace voxshard {
namespace {

using Rgb = std::array<double, 3>;

constexpr double kRedShare = 0.299, kGreenShare = 0.587, kBlueShare = 0.114;  // ITU-R BT.601
constexpr double kUOfBlue = 0.492, kVOfRed = 0.877;                           // U = 0.492 (B - Y), V = 0.877 (R - Y)

double grey_of(const float* rgb) { return kRedShare * rgb[0] + kGreenShare * rgb[1] + kBlueShare * rgb[2]; }

/// Returns a colour of the same grey whose U and V are rotated.
Rgb rotated_hue(const Rgb& rgb, double grey, double cosine, double sine) {
  const double u = kUOfBlue * (rgb[2] - grey), v = kVOfRed * (rgb[0] - grey);
  const double red = grey + (sine * u + cosine * v) / kVOfRed, blue = grey + (cosine * u - sine * v) / kUOfBlue;
  return {red, (grey - kRedShare * red - kBlueShare * blue) / kGreenShare, blue};
}

}  // namespace

void recolour(Tensor& pixels, const ColourChange& change) {
  const Shape& shape = pixels.shape();
  ensure(pixels.dtype() == DType::kF32 && shape.axes() == 3 && (shape[2] == 1 || shape[2] == 3),
         "a picture to be recoloured is (H, W, 1 or 3) f32");
  const bool is_grey = shape[2] == 1;
  const std::int64_t channels = shape[2], count = pixels.count() / channels;
  float* values = pixels.as<float>();
  double mean = 0;
  for (std::int64_t i = 0; i < count; ++i) mean += is_grey ? values[i] : grey_of(values + 3 * i);
  mean /= static_cast<double>(std::max<std::int64_t>(1, count));
  const double angle = change.hue_degrees * std::numbers::pi / 180, cosine = std::cos(angle), sine = std::sin(angle);
  for (std::int64_t i = 0; i < count; ++i) {
    float* p = values + channels * i;
    const double grey = is_grey ? p[0] : grey_of(p);
    Rgb rgb{p[0], is_grey ? p[0] : p[1], is_grey ? p[0] : p[2]};
    if (!is_grey && change.hue_degrees != 0) rgb = rotated_hue(rgb, grey, cosine, sine);
    for (std::int64_t c = 0; c < channels; ++c) {
      const double colour = grey + (rgb[c] - grey) * change.saturation;
      p[c] = static_cast<float>(std::clamp(mean + (colour - mean) * change.contrast + change.shift, 0.0, 1.0));
    }
  }
}

}  // namespace voxshard
