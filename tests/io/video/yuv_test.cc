// The vectorised conversion of YUV against the formulas, pixel by pixel in double.
#include "io/video/yuv.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "libcore/base/rng.h"
#include "tests/io/test_files.h"

namespace voxshard {
namespace {

/// The four numbers of libswscale for BT.601 times 2^16: 1.402 and so on, times 255 / 224.
constexpr int kBt601[4] = {104597, 132201, 25675, 53279};

struct Planes {
  std::int64_t width, height;
  bool halve_x, halve_y;
  std::array<std::vector<std::uint8_t>, 3> bytes;

  std::int64_t columns(int plane) const { return plane > 0 && halve_x ? width / 2 : width; }
  std::int64_t rows(int plane) const { return plane > 0 && halve_y ? height / 2 : height; }
  double at(int plane, std::int64_t y, std::int64_t x) const {
    y = std::clamp<std::int64_t>(y, 0, rows(plane) - 1), x = std::clamp<std::int64_t>(x, 0, columns(plane) - 1);
    return bytes[plane][y * columns(plane) + x];
  }
};

/// Values from 64 to 191: far from where results are clamped, so that the formulas hold everywhere.
Planes random_planes(std::int64_t width, std::int64_t height, bool halve_x, bool halve_y) {
  Planes p{width, height, halve_x, halve_y, {}};
  for (int i = 0; i < 3; ++i)
    for (std::int64_t k = 0; k < p.columns(i) * p.rows(i); ++k)
      p.bytes[i].push_back(static_cast<std::uint8_t>(
          64 + rng_below({.seed = 3, .stream = static_cast<std::uint64_t>(i)}, static_cast<std::uint64_t>(k), 128)));
  return p;
}

YuvImage image_of(const Planes& p, bool full_range) {
  YuvImage image{.width = p.width, .height = p.height, .halve_x = p.halve_x, .halve_y = p.halve_y};
  for (int i = 0; i < 3; ++i) {
    image.planes[i] = p.bytes[i].data();
    image.strides[i] = p.columns(i);
  }
  image.colours = yuv_colours(kBt601, full_range);
  return image;
}

/// Keys' cubic with a = -0.6.   Source: Keys 1981, equation 15.
double cubic(double d) {
  constexpr double a = -0.6;
  d = std::abs(d);
  if (d < 1) return ((a + 2) * d - (a + 3)) * d * d + 1;
  return d < 2 ? ((a * d - 5 * a) * d + 8 * a) * d - 4 * a : 0;
}

/// Returns the position of pixel `x` on a chroma axis, and the first of the four samples around it.
std::pair<double, std::int64_t> chroma_place(std::int64_t x, bool halve) {
  const double place = halve ? (static_cast<double>(x) + 0.5) / 2 - 0.5 : static_cast<double>(x);
  return {place, static_cast<std::int64_t>(std::floor(place)) - 1};
}

double chroma(const Planes& p, int plane, std::int64_t y, std::int64_t x) {
  const auto [at_y, first_y] = chroma_place(y, p.halve_y);
  const auto [at_x, first_x] = chroma_place(x, p.halve_x);
  double sum = 0;
  for (std::int64_t j = first_y; j < first_y + 4; ++j)
    for (std::int64_t i = first_x; i < first_x + 4; ++i)
      sum += cubic(at_y - static_cast<double>(j)) * cubic(at_x - static_cast<double>(i)) * p.at(plane, j, i);
  return sum - 128;
}

/// Returns red, green and blue by ITU-R BT.601: limited range 16 to 235 and 16 to 240, or 0 to 255.
std::array<double, 3> expected(const Planes& p, bool full_range, std::int64_t y, std::int64_t x) {
  const double scale = full_range ? 1 : 255.0 / 224, light = p.at(0, y, x);
  const double luma = full_range ? light : (light - 16) * 255 / 219;
  const double u = scale * chroma(p, 1, y, x), v = scale * chroma(p, 2, y, x);
  return {luma + 1.402 * v, luma - 0.344136 * u - 0.714136 * v, luma + 1.772 * u};
}

TEST(YuvToRgb, EqualsTheFormulasWithinALevelAtEverySize) {
  for (const auto& [width, height] : {std::pair(2, 2), {30, 6}, {32, 4}, {34, 8}, {62, 2}, {64, 10}, {98, 4}})
    for (const auto& [halve_x, halve_y] : {std::pair(true, true), {true, false}, {false, false}})
      for (const bool full_range : {false, true}) {
        const Planes p = random_planes(width, height, halve_x, halve_y);
        std::vector<std::uint8_t> rgb(static_cast<std::size_t>(3 * width * height));
        yuv_to_rgb(image_of(p, full_range), rgb.data(), 3 * width);
        double largest = 0;
        for (std::int64_t y = 0; y < height; ++y)
          for (std::int64_t x = 0; x < width; ++x)
            for (std::size_t c = 0; c < 3; ++c) {
              const double wanted = std::clamp(expected(p, full_range, y, x)[c], 0.0, 255.0);
              largest = std::max(largest, std::abs(wanted - rgb[static_cast<std::size_t>(3 * (y * width + x)) + c]));
            }
        EXPECT_LE(largest, 1.0) << width << "x" << height << " " << halve_x << halve_y << full_range;
      }
}

TEST(YuvToRgb, GreyStaysGreyAndTheEndsOfTheRangeAreBlackAndWhite) {
  for (const auto& [luma, level] : {std::pair(16, 0), {235, 255}, {0, 0}, {255, 255}, {126, 128}}) {
    Planes p{34, 2, true, true, {}};
    for (int i = 0; i < 3; ++i)
      p.bytes[i].assign(static_cast<std::size_t>(p.columns(i) * p.rows(i)),
                        static_cast<std::uint8_t>(i == 0 ? luma : 128));
    std::vector<std::uint8_t> rgb(3 * 34 * 2);
    yuv_to_rgb(image_of(p, false), rgb.data(), 3 * 34);
    for (const auto value : rgb) ASSERT_EQ(value, level) << luma;  // (126 - 16) 255 / 219 = 128.08
  }
}

TEST(YuvToRgb, WritesItsRowsAndNothingElse) {
  const Planes p = random_planes(46, 4, true, true);
  constexpr std::size_t kStride = 3 * 46 + 7;
  std::vector<std::uint8_t> dense(3 * 46 * 4), wide(kStride * 4, 99);
  yuv_to_rgb(image_of(p, false), dense.data(), 3 * 46);
  yuv_to_rgb(image_of(p, false), wide.data(), kStride);
  for (std::size_t i = 0; i < wide.size(); ++i) {
    const std::size_t row = i / kStride, at = i % kStride;
    ASSERT_EQ(wide[i], at < 3 * 46 ? dense[row * 3 * 46 + at] : 99) << row << " " << at;
  }
}

TEST(YuvToRgb, RowsMayRunUpwards) {
  const Planes p = random_planes(34, 2, false, false);
  YuvImage down = image_of(p, false), up = down;
  for (std::size_t i = 0; i < 3; ++i) up.planes[i] += up.strides[i], up.strides[i] = -up.strides[i];
  std::vector<std::uint8_t> a(3 * 34 * 2), b(3 * 34 * 2);
  yuv_to_rgb(down, a.data(), 3 * 34);
  yuv_to_rgb(up, b.data(), 3 * 34);
  EXPECT_TRUE(std::equal(a.begin(), a.begin() + 3 * 34, b.begin() + 3 * 34));
  EXPECT_TRUE(std::equal(b.begin(), b.begin() + 3 * 34, a.begin() + 3 * 34));
}

}  // namespace
}  // namespace voxshard
