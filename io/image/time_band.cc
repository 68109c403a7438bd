#include "io/image/time_band.h"

#include <algorithm>
#include <cmath>

#include "io/image/draw_caption.h"
#include "io/image/overlay.h"

namespace voxshard {
namespace {

constexpr std::uint8_t kNothing = 96;  // grey
constexpr std::int64_t kPartOfHeight = 24, kLeastRows = 4;

}  // namespace

TimeBand::TimeBand(std::int64_t height, std::int64_t width, const std::vector<BandPart>& parts)
    : height_(height),
      width_(width),
      rows_(std::min(height, std::max(kLeastRows, height / kPartOfHeight))),
      row_(static_cast<std::size_t>(3 * width), kNothing) {
  const auto column = [&](double at) {
    return std::clamp(static_cast<std::int64_t>(std::llround(at * static_cast<double>(width))), std::int64_t{0}, width);
  };
  for (const BandPart& part : parts) {
    const std::int64_t begin = std::min(column(part.begin), width - 1), end = std::max(column(part.end), begin + 1);
    const auto colour = class_colour(part.colour);
    for (std::int64_t x = begin; x < end; ++x) std::copy(colour.begin(), colour.end(), row_.begin() + 3 * x);
  }
}

void TimeBand::draw(Tensor& rgb, double now) const {
  ensure(rgb.dtype() == DType::kU8 && rgb.shape() == Shape({height_, width_, 3}),
         "a band is drawn into pictures of its size");
  std::vector<std::uint8_t> row = row_;
  const std::int64_t half = drawn_line_px(rgb.shape()),
                     middle = std::clamp(static_cast<std::int64_t>(now * static_cast<double>(width_)), std::int64_t{0},
                                         width_ - 1);
  for (std::int64_t x = std::max<std::int64_t>(0, middle - 2 * half); x <= std::min(width_ - 1, middle + 2 * half); ++x)
    std::fill_n(row.begin() + 3 * x, 3, std::abs(x - middle) <= half ? std::uint8_t{255} : std::uint8_t{0});
  for (std::int64_t y = top(); y < height_; ++y)
    std::copy(row.begin(), row.end(), rgb.as<std::uint8_t>() + 3 * y * width_);
}

}  // namespace voxshard
