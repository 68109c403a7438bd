#include "io/video/yuv.h"

#include <immintrin.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <vector>

namespace voxshard {
namespace {

// All 16-bit values are fixed point with 7 fractional bits (luma 0 .. 255, chroma -128 .. 127.99). One
// _mm256_mulhrs_epi16 (a * b / 2^15, rounded) with a weight times 2^15 keeps the 7 bits, with a colour factor times
// 2^13 it leaves 5. Unpacking works within 128-bit halves, so "low" holds pixels 0-7 and 16-23 of 32 and "high" 8-15
// and 24-31; packing puts them back in order.

constexpr std::int64_t kBlock = 32;  // pixels per step

/// Bicubic with a = -0.6 (libswscale's default) at a quarter of a sample beside the nearest one: the weights of the
/// samples at distance 1.75, 0.75, 0.25 and 1.25, times 2^15. They add up to 2^15.
constexpr std::array<std::int16_t, 4> kQuarter = {-922, 7885, 28570, -2765};

/// Returns the sum of four neighbours weighted by kQuarter. It fits into 15 bits and a sign, also for values that were
/// already weighted once.
__m256i weighted(__m256i a, __m256i b, __m256i c, __m256i d) {
  const auto times = [](__m256i v, std::int16_t w) { return _mm256_mulhrs_epi16(v, _mm256_set1_epi16(w)); };
  return _mm256_add_epi16(_mm256_add_epi16(times(a, kQuarter[0]), times(b, kQuarter[1])),
                          _mm256_add_epi16(times(c, kQuarter[2]), times(d, kQuarter[3])));
}

/// The upsampled rows of one chroma plane that neighbouring output rows share: `width` values each, after padding.
class ChromaRows {
 public:
  ChromaRows(const std::uint8_t* plane, std::ptrdiff_t stride, std::int64_t columns, std::int64_t rows, bool halve_x)
      : plane_(plane),
        stride_(stride),
        columns_(columns),
        rows_(rows),
        halve_x_(halve_x),
        length_((columns * (halve_x ? 2 : 1) + kBlock - 1) / kBlock * kBlock),
        narrow_(static_cast<std::size_t>(columns + 2 * kBlock)) {
    for (auto& row : cache_) row.resize(length_);
    held_.fill(-1);
  }

  /// Returns row `row`, clamped to the plane, upsampled to the width of the image.
  const std::int16_t* row(std::int64_t row) {
    row = std::clamp<std::int64_t>(row, 0, rows_ - 1);
    const auto slot = static_cast<std::size_t>(row & 3);  // four neighbours never share a slot
    if (held_[slot] != row) {
      fill(plane_ + row * stride_, cache_[slot].data());
      held_[slot] = row;
    }
    return cache_[slot].data();
  }

 private:
  void fill(const std::uint8_t* from, std::int16_t* to) {
    // The plane's row with its edge samples repeated on both sides.
    std::uint8_t* padded = narrow_.data() + kBlock / 2;
    std::memcpy(padded, from, static_cast<std::size_t>(columns_));
    std::memset(narrow_.data(), from[0], kBlock / 2);
    std::memset(padded + columns_, from[columns_ - 1],
                narrow_.size() - static_cast<std::size_t>(kBlock / 2 + columns_));
    const __m256i middle = _mm256_set1_epi16(128);
    const auto samples = [&](std::int64_t at) {
      const __m128i bytes = _mm_loadu_si128(reinterpret_cast<const __m128i*>(padded + at));
      return _mm256_slli_epi16(_mm256_sub_epi16(_mm256_cvtepu8_epi16(bytes), middle), 7);
    };
    const std::int64_t step = halve_x_ ? 2 : 1;
    for (std::int64_t x = 0; x * step < length_; x += kBlock / 2) {
      if (!halve_x_) {
        _mm256_storeu_si256(reinterpret_cast<__m256i*>(to + x), samples(x));
        continue;
      }
      // Pixels 2k and 2k + 1 lie a quarter of a sample before and behind sample k.
      const __m256i left2 = samples(x - 2), left = samples(x - 1), here = samples(x), right = samples(x + 1),
                    right2 = samples(x + 2);
      // As in libswscale, overshoot above the maximum is clamped here, but not in the vertical pass.
      const __m256i most = _mm256_set1_epi16(16383);
      const __m256i even = _mm256_min_epi16(weighted(left2, left, here, right), most),
                    odd = _mm256_min_epi16(weighted(right2, right, here, left), most);
      const __m256i low = _mm256_unpacklo_epi16(even, odd), high = _mm256_unpackhi_epi16(even, odd);
      auto* out = reinterpret_cast<__m256i*>(to + 2 * x);
      _mm256_storeu_si256(out, _mm256_permute2x128_si256(low, high, 0x20));
      _mm256_storeu_si256(out + 1, _mm256_permute2x128_si256(low, high, 0x31));
    }
  }

  const std::uint8_t* plane_;
  std::ptrdiff_t stride_;
  std::int64_t columns_, rows_;
  bool halve_x_;
  std::int64_t length_;
  std::vector<std::uint8_t> narrow_;
  std::array<std::vector<std::int16_t>, 4> cache_;
  std::array<std::int64_t, 4> held_{};
};

/// Stores 16 pixels as 48 bytes r g b r g b ...
void store_rgb16(std::uint8_t* to, __m128i r, __m128i g, __m128i b) {
  // Byte i of the output is channel i % 3 of pixel i / 3; -1 leaves a gap for the other channels.
  const __m128i r0 = _mm_setr_epi8(0, -1, -1, 1, -1, -1, 2, -1, -1, 3, -1, -1, 4, -1, -1, 5);
  const __m128i g0 = _mm_setr_epi8(-1, 0, -1, -1, 1, -1, -1, 2, -1, -1, 3, -1, -1, 4, -1, -1);
  const __m128i b0 = _mm_setr_epi8(-1, -1, 0, -1, -1, 1, -1, -1, 2, -1, -1, 3, -1, -1, 4, -1);
  const __m128i r1 = _mm_setr_epi8(-1, -1, 6, -1, -1, 7, -1, -1, 8, -1, -1, 9, -1, -1, 10, -1);
  const __m128i g1 = _mm_setr_epi8(5, -1, -1, 6, -1, -1, 7, -1, -1, 8, -1, -1, 9, -1, -1, 10);
  const __m128i b1 = _mm_setr_epi8(-1, 5, -1, -1, 6, -1, -1, 7, -1, -1, 8, -1, -1, 9, -1, -1);
  const __m128i r2 = _mm_setr_epi8(-1, 11, -1, -1, 12, -1, -1, 13, -1, -1, 14, -1, -1, 15, -1, -1);
  const __m128i g2 = _mm_setr_epi8(-1, -1, 11, -1, -1, 12, -1, -1, 13, -1, -1, 14, -1, -1, 15, -1);
  const __m128i b2 = _mm_setr_epi8(10, -1, -1, 11, -1, -1, 12, -1, -1, 13, -1, -1, 14, -1, -1, 15);
  const auto mix = [&](const __m128i& rs, const __m128i& gs, const __m128i& bs) {
    return _mm_or_si128(_mm_or_si128(_mm_shuffle_epi8(r, rs), _mm_shuffle_epi8(g, gs)), _mm_shuffle_epi8(b, bs));
  };
  auto* out = reinterpret_cast<__m128i*>(to);
  _mm_storeu_si128(out, mix(r0, g0, b0));
  _mm_storeu_si128(out + 1, mix(r1, g1, b1));
  _mm_storeu_si128(out + 2, mix(r2, g2, b2));
}

struct Factors {
  __m256i luma, black, red_v, green_u, green_v, blue_u;

  explicit Factors(const YuvColours& c)
      : luma(_mm256_set1_epi16(c.luma)),
        black(_mm256_set1_epi16(static_cast<std::int16_t>(c.black << 7))),
        red_v(_mm256_set1_epi16(c.red_v)),
        green_u(_mm256_set1_epi16(c.green_u)),
        green_v(_mm256_set1_epi16(c.green_v)),
        blue_u(_mm256_set1_epi16(c.blue_u)) {}
};

struct Rgb {
  __m256i r, g, b;  // 16 pixels each, whole levels that may lie outside 0 .. 255
};

Rgb colours_of(__m256i luma, __m256i u, __m256i v, const Factors& f) {
  const __m256i half = _mm256_set1_epi16(16);
  const __m256i y = _mm256_add_epi16(_mm256_mulhrs_epi16(_mm256_sub_epi16(luma, f.black), f.luma), half);
  const __m256i r = _mm256_add_epi16(y, _mm256_mulhrs_epi16(v, f.red_v));
  const __m256i g =
      _mm256_sub_epi16(y, _mm256_add_epi16(_mm256_mulhrs_epi16(u, f.green_u), _mm256_mulhrs_epi16(v, f.green_v)));
  const __m256i b = _mm256_add_epi16(y, _mm256_mulhrs_epi16(u, f.blue_u));
  return {_mm256_srai_epi16(r, 5), _mm256_srai_epi16(g, 5), _mm256_srai_epi16(b, 5)};
}

/// Converts 32 pixels: 32 bytes of y, 32 values of u and of v in pixel order.
void convert_block(const std::uint8_t* y, __m256i u0, __m256i u1, __m256i v0, __m256i v1, const Factors& f,
                   std::uint8_t* rgb) {
  const __m256i bytes = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(y)), zero = _mm256_setzero_si256();
  const auto luma = [](__m256i v) { return _mm256_slli_epi16(v, 7); };
  const auto low = [](__m256i a, __m256i b) { return _mm256_permute2x128_si256(a, b, 0x20); };
  const auto high = [](__m256i a, __m256i b) { return _mm256_permute2x128_si256(a, b, 0x31); };
  const Rgb a = colours_of(luma(_mm256_unpacklo_epi8(bytes, zero)), low(u0, u1), low(v0, v1), f);
  const Rgb b = colours_of(luma(_mm256_unpackhi_epi8(bytes, zero)), high(u0, u1), high(v0, v1), f);
  const __m256i red = _mm256_packus_epi16(a.r, b.r), green = _mm256_packus_epi16(a.g, b.g),
                blue = _mm256_packus_epi16(a.b, b.b);
  store_rgb16(rgb, _mm256_castsi256_si128(red), _mm256_castsi256_si128(green), _mm256_castsi256_si128(blue));
  store_rgb16(rgb + 48, _mm256_extracti128_si256(red, 1), _mm256_extracti128_si256(green, 1),
              _mm256_extracti128_si256(blue, 1));
}

/// The four chroma rows around an output row, in kQuarter's order; only `here` when chroma is as tall as luma.
struct Neighbours {
  std::array<const std::int16_t*, 4> rows{};

  Neighbours(ChromaRows& plane, std::int64_t y, bool halve_y) {
    if (!halve_y) {
      rows.fill(plane.row(y));
      return;
    }
    const std::int64_t k = y / 2, side = y % 2 == 0 ? -1 : 1;
    rows = {plane.row(k + 2 * side), plane.row(k + side), plane.row(k), plane.row(k - side)};
  }
  __m256i at(std::int64_t x, bool halve_y) const {
    const auto load = [&](std::size_t i) { return _mm256_loadu_si256(reinterpret_cast<const __m256i*>(rows[i] + x)); };
    return halve_y ? weighted(load(0), load(1), load(2), load(3)) : load(2);
  }
};

}  // namespace

YuvColours yuv_colours(const int* coefficients, bool full_range) {
  const auto scaled = [](double factor) { return static_cast<std::int16_t>(std::lround(factor * 8192)); };
  const double chroma = (full_range ? 224.0 / 255 : 1.0) / 65536;
  return {.luma = scaled(full_range ? 1.0 : 255.0 / 219),
          .red_v = scaled(coefficients[0] * chroma),
          .green_u = scaled(coefficients[2] * chroma),
          .green_v = scaled(coefficients[3] * chroma),
          .blue_u = scaled(coefficients[1] * chroma),
          .black = static_cast<std::int16_t>(full_range ? 0 : 16)};
}

void yuv_to_rgb(const YuvImage& p, std::uint8_t* rgb, std::ptrdiff_t rgb_stride) {
  const std::int64_t columns = p.halve_x ? p.width / 2 : p.width, rows = p.halve_y ? p.height / 2 : p.height;
  ChromaRows u_rows(p.planes[1], p.strides[1], columns, rows, p.halve_x);
  ChromaRows v_rows(p.planes[2], p.strides[2], columns, rows, p.halve_x);
  const Factors factors(p.colours);
  for (std::int64_t row = 0; row < p.height; ++row) {
    const Neighbours u(u_rows, row, p.halve_y), v(v_rows, row, p.halve_y);
    const std::uint8_t* y = p.planes[0] + row * p.strides[0];
    std::uint8_t* out = rgb + row * rgb_stride;
    const auto block = [&](std::int64_t x, const std::uint8_t* from, std::uint8_t* to) {
      convert_block(from, u.at(x, p.halve_y), u.at(x + 16, p.halve_y), v.at(x, p.halve_y), v.at(x + 16, p.halve_y),
                    factors, to);
    };
    std::int64_t x = 0;
    for (; x + kBlock <= p.width; x += kBlock) block(x, y + x, out + 3 * x);
    if (x == p.width) continue;
    std::array<std::uint8_t, kBlock> last{};  // the rest of the row, so that nothing outside it is touched
    std::array<std::uint8_t, 3 * kBlock> last_rgb{};
    std::memcpy(last.data(), y + x, static_cast<std::size_t>(p.width - x));
    block(x, last.data(), last_rgb.data());
    std::memcpy(out + 3 * x, last_rgb.data(), static_cast<std::size_t>(3 * (p.width - x)));
  }
}

}  // namespace voxshard
