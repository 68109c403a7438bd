// The routines of kEmulated (routines.h) in plain C++, for any processor.
//
// They match the tile instructions bit for bit: the bytes read and written, every rounding, the order of additions, and
// the rule that numbers below the smallest normal one count as zero in products, sums and conversions to bf16 (not in
// f32 results). Only the payloads of NaNs may differ; the speed says nothing about tiles. Source: Intel, Architecture
// Instruction Set Extensions Programming Reference: TDPBF16PS, VCVTNE2PS2BF16.
#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>

#include "libcore/kernels/amx/routines.h"
#include "libcore/tensor/dtype.h"

namespace voxshard::amx {
namespace {

/// Rounds x to f32, to nearest even; zero of its sign where the rounded value is below the smallest normal number.
float rounded(double x) {
  constexpr double kLeast = 0x1p-126 - 0x1p-151;  // from here on 24 bits round up to 2^-126
  return static_cast<float>(x * (std::abs(x) < kLeast ? 0.0 : 1.0));
}

float rounded(float x) { return x; }

constexpr std::uint32_t kExponent = 0x7f800000, kSign = 0x80000000;

/// Returns the bits of an f32, or those of a zero of its sign when it is below the smallest normal number.
std::uint32_t normal(std::uint32_t bits) { return (bits & kExponent) != 0 ? bits : bits & kSign; }
float flushed(float x) { return std::bit_cast<float>(normal(std::bit_cast<std::uint32_t>(x))); }

template <class T>
T word_at(const std::byte* from, std::int64_t index) {
  T value;
  std::memcpy(&value, from + index * static_cast<std::int64_t>(sizeof(T)), sizeof(T));
  return value;
}
template <class T>
void set_word(std::byte* to, std::int64_t index, T value) {
  std::memcpy(to + index * static_cast<std::int64_t>(sizeof(T)), &value, sizeof(T));
}

float bf16_at(const std::byte* from, std::int64_t index) {
  return flushed(std::bit_cast<float>(static_cast<std::uint32_t>(word_at<std::uint16_t>(from, index)) << 16));
}
std::uint16_t to_bf16(float x) { return BF16(flushed(x)).bits; }

/// The 16 x 32 bf16 of a tile as f32, even and odd positions apart; values below the smallest normal number become
/// zero.
struct Halves {
  float even[256], odd[256];
  /// True when all are zero or between 2^-40 and 2^40 in magnitude.
  bool moderate;

  explicit Halves(const std::byte* tile) {
    std::uint32_t words[256], other = 0;
    std::memcpy(words, tile, kTileBytes);
    for (int i = 0; i < 256; ++i) {
      const std::uint32_t low = normal(words[i] << 16), high = normal(words[i] & 0xffff0000U);
      other |= immoderate(low) | immoderate(high);
      even[i] = std::bit_cast<float>(low);
      odd[i] = std::bit_cast<float>(high);
    }
    moderate = other == 0;
  }
  static std::uint32_t immoderate(std::uint32_t bits) {
    constexpr std::uint32_t kLeast = (127 - 40) << 23, kMost = (127 + 40) << 23;
    const std::uint32_t exponent = bits & kExponent;
    return static_cast<std::uint32_t>(exponent != 0) & static_cast<std::uint32_t>(exponent - kLeast > kMost - kLeast);
  }
};

/// C += A B. Even and odd positions of the 32 are summed apart, each by 16 fused multiply-adds from zero; the sum of
/// both is added to C.
///   Real  double: a product of two bf16 is exact in f64, and so is its sum with an f32 wherever that lies near the
///         middle of two neighbouring f32 (their exponents are then less than 30 apart), so that rounding in f64 first
///         changes nothing. float, of moderate values: products are exact in f32 and sums multiples of 2^-94
template <class Real>
void add_product(const Halves& a, const Halves& b, std::byte* c) {
  const auto rounded_sum = [](Real x, float y) { return rounded(x + static_cast<Real>(y)); };
  for (int m = 0; m < 16; ++m) {
    float even[16] = {}, odd[16] = {};
    for (int k = 0; k < 16; ++k) {
      const Real even_a = a.even[16 * m + k], odd_a = a.odd[16 * m + k];
      for (int n = 0; n < 16; ++n) even[n] = rounded_sum(even_a * static_cast<Real>(b.even[16 * k + n]), even[n]);
      for (int n = 0; n < 16; ++n) odd[n] = rounded_sum(odd_a * static_cast<Real>(b.odd[16 * k + n]), odd[n]);
    }
    std::byte* row = c + m * kLineBytes;
    for (int n = 0; n < 16; ++n) {
      const double pair = rounded(static_cast<double>(even[n]) + static_cast<double>(odd[n]));
      set_word(row, n, rounded(pair + static_cast<double>(flushed(word_at<float>(row, n)))));
    }
  }
}

void multiply(const std::byte* a, const std::byte* b, std::byte* c) {
  const Halves in_a(a), in_b(b);
  in_a.moderate&& in_b.moderate ? add_product<float>(in_a, in_b, c) : add_product<double>(in_a, in_b, c);
}

void nothing() {}

void multiply_taps(const TapProducts& p, std::int64_t first_tile, std::int64_t past_tile, std::int64_t first,
                   std::int64_t past) {
  for (std::int64_t tile = first_tile; tile < past_tile; ++tile)
    for (int block = 0; block < (p.weights[1] != nullptr ? 2 : 1); ++block) {
      std::byte* sums = p.sums + (2 * tile + block) * kTileBytes;
      if (first == 0) std::memset(sums, 0, kTileBytes);
      for (std::int64_t unit = first; unit < past; ++unit) {
        const std::byte* line = p.voxels[unit % p.planes * p.tiles + tile] + unit / p.planes * p.chunk_bytes;
        for (std::int64_t t = 0; t < p.tap_count; ++t)
          multiply(line + p.taps[t], p.weights[block] + (unit * p.tap_count + t) * kWeightsStep, sums);
      }
    }
}

void multiply_groups(const GroupProducts& p, std::int64_t first, std::int64_t past, bool zero) {
  for (int y = 0; y < (p.d_y[1] != nullptr ? 2 : 1); ++y)
    for (int x = 0; x < p.x_blocks; ++x) {
      std::byte* sums = p.sums + (2 * y + x) * kTileBytes;
      if (zero) std::memset(sums, 0, kTileBytes);
      for (std::int64_t g = first; g < past; ++g) multiply(p.d_y[y] + g * kTileBytes, p.x[g] + p.offsets[x], sums);
    }
}

/// Channel c of voxel i, zero where there is no such voxel or channel.
std::uint16_t value_at(const VoxelRow& row, std::int64_t i, std::int64_t c) {
  return i >= row.first && i < row.past && c < row.channels ? row.data[i * row.stride + c] : std::uint16_t{0};
}

void copy_lines(const VoxelRow& row, std::int64_t from, std::int64_t count, std::byte* to, std::int64_t chunk_bytes) {
  for (std::int64_t chunk = 0; chunk * kDepth < row.channels; ++chunk)
    for (std::int64_t i = 0; i < count; ++i)
      for (std::int64_t c = 0; c < kDepth; ++c)
        set_word(to + chunk * chunk_bytes + i * kLineBytes, c, value_at(row, from + i, chunk * kDepth + c));
}

void copy_pairs(const VoxelRow& row, const PairLines& to) {
  for (std::int64_t block = 0; block * kTileRows < row.channels; ++block)
    for (std::int64_t copy = 0; copy < to.copies; ++copy)
      for (std::int64_t q = 0; q < to.pairs; ++q) {
        std::byte* line = to.data + block * to.block_bytes + copy * to.copy_bytes + q * kLineBytes;
        for (std::int64_t c = 0; c < kTileRows; ++c)
          for (std::int64_t side = 0; side < 2; ++side)
            set_word(line, 2 * c + side, value_at(row, 2 * q + copy + side, block * kTileRows + c));
      }
}

void transpose(const std::byte* from, std::byte* to, std::int64_t to_stride, bool) {
  std::uint32_t words[kTileRows][kTileRows];
  std::memcpy(words, from, kTileBytes);
  for (std::int64_t j = 0; j < kTileRows; ++j)
    for (std::int64_t i = 0; i < kTileRows; ++i) set_word(to + j * to_stride, i, words[i][j]);
}

void pack_weights(const WeightSquare& w, std::byte* to) {
  for (std::int64_t k = 0; k < kDepth; ++k)
    for (std::int64_t r = 0; r < kTileRows; ++r) {
      const std::int64_t at = k * w.source_stride + r * w.result_stride;
      const bool held = k < w.sources && r < w.results;
      const float value = !held ? 0 : w.bf16 ? bf16_at(w.data, at) : word_at<float>(w.data, at);
      set_word(to + k / 2 * kLineBytes, 2 * r + k % 2, to_bf16(value));
    }
}

float biased(const std::byte* sums, std::int64_t row, const float* bias, std::int64_t channel) {
  const std::byte* line = sums + channel / kTileRows * kTileBytes + row * kLineBytes;
  return word_at<float>(line, channel % kTileRows) + bias[channel];
}

void store_bf16(const std::byte* sums, std::int64_t rows, const float* bias, std::int64_t channels, std::uint16_t* to,
                std::int64_t stride) {
  for (std::int64_t r = 0; r < rows; ++r)
    for (std::int64_t c = 0; c < channels; ++c) to[r * stride + c] = to_bf16(biased(sums, r, bias, c));
}

void store_f32(const std::byte* sums, std::int64_t rows, const float* bias, std::int64_t channels, float* to,
               std::int64_t stride) {
  for (std::int64_t r = 0; r < rows; ++r)
    for (std::int64_t c = 0; c < channels; ++c) to[r * stride + c] = biased(sums, r, bias, c);
}

}  // namespace

const Routines kEmulated = {.name = "emulated",
                            .begin = nothing,
                            .end = nothing,
                            .multiply_taps = multiply_taps,
                            .multiply_groups = multiply_groups,
                            .copy_lines = copy_lines,
                            .copy_pairs = copy_pairs,
                            .transpose = transpose,
                            .end_past_cache = nothing,
                            .pack_weights = pack_weights,
                            .store_bf16 = store_bf16,
                            .store_f32 = store_f32};

}  // namespace voxshard::amx
