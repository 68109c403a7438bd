// Copies between tensors and tiles, in vector registers.
// GCC 12 warns about the undefined operand inside its own intrinsics (its bug 105593).
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC diagnostic ignored "-Wmaybe-uninitialized"
#pragma GCC diagnostic ignored "-Wuninitialized"
#endif
#include <immintrin.h>

#include <algorithm>

#include "libcore/kernels/amx/target.h"
#include "libcore/kernels/amx/tiles.h"

namespace voxshard::amx::tiles {
namespace {

#define VOXSHARD_AMX_INLINE VOXSHARD_AMX_TARGET inline __attribute__((always_inline))

VOXSHARD_AMX_INLINE __mmask32 words(std::int64_t count) {
  return count >= 32 ? ~__mmask32{0} : count <= 0 ? 0 : (__mmask32{1} << count) - 1;
}

VOXSHARD_AMX_INLINE __mmask16 lanes(std::int64_t count) {
  return static_cast<__mmask16>(words(std::min<std::int64_t>(count, 16)));
}

alignas(64) constexpr std::uint16_t kNothing[32] = {};

VOXSHARD_AMX_INLINE __m512 biased(const std::byte* sums, std::int64_t block, std::int64_t row, const float* bias) {
  return _mm512_add_ps(_mm512_loadu_ps(sums + block * kTileBytes + row * kLineBytes),
                       _mm512_loadu_ps(bias + block * kTileRows));
}

}  // namespace

VOXSHARD_AMX_TARGET void copy_lines(const VoxelRow& row, std::int64_t from, std::int64_t count, std::byte* to,
                                    std::int64_t chunk_bytes) {
  const std::int64_t whole = row.channels / kDepth, left = row.channels % kDepth;
  const __mmask32 mask = words(left);
  for (std::int64_t i = 0; i < count; ++i) {
    const bool held = from + i >= row.first && from + i < row.past;
    const std::uint16_t* voxel = held ? row.data + (from + i) * row.stride : nullptr;
    std::byte* line = to + i * kLineBytes;
    for (std::int64_t c = 0; c < whole; ++c, line += chunk_bytes)
      _mm512_store_si512(line, held ? _mm512_loadu_si512(voxel + c * kDepth) : _mm512_setzero_si512());
    if (left > 0)
      _mm512_store_si512(line, held ? _mm512_maskz_loadu_epi16(mask, voxel + whole * kDepth) : _mm512_setzero_si512());
  }
}

namespace {

/// Loads 32 channels of a voxel with its quarters of 4 in the order 0 4 1 5 2 6 3 7: unpacking two voxels then leaves
/// channels 0 .. 15 in one register and 16 .. 31 in the other.
VOXSHARD_AMX_INLINE __m512i voxel_quarters(const VoxelRow& row, std::int64_t i, std::int64_t channel, __mmask32 mask) {
  const std::uint16_t* from = i >= row.first && i < row.past ? row.data + i * row.stride + channel : kNothing;
  return _mm512_permutexvar_epi64(_mm512_set_epi64(7, 3, 6, 2, 5, 1, 4, 0), _mm512_maskz_loadu_epi16(mask, from));
}

struct PairStore {
  std::byte* at;
  std::int64_t block_bytes;
  bool both;
};

VOXSHARD_AMX_INLINE void store_pair(const PairStore& to, __m512i even, __m512i odd) {
  _mm512_store_si512(to.at, _mm512_unpacklo_epi16(even, odd));
  if (to.both) _mm512_store_si512(to.at + to.block_bytes, _mm512_unpackhi_epi16(even, odd));
}

/// Makes one copy, two, or the three of a window of 3, of which the last is the first one shifted by a line.
template <int kCopies>
VOXSHARD_AMX_TARGET void copy_pairs_of(const VoxelRow& row, const PairLines& to) {
  for (std::int64_t c = 0; c < row.channels; c += kDepth) {
    const __mmask32 mask = words(row.channels - c);
    PairStore line{to.data + c / kTileRows * to.block_bytes, to.block_bytes, row.channels - c > kTileRows};
    __m512i first = voxel_quarters(row, 0, c, mask);
    for (std::int64_t q = 0; q < to.pairs; ++q, line.at += kLineBytes) {
      const __m512i second = voxel_quarters(row, 2 * q + 1, c, mask), third = voxel_quarters(row, 2 * q + 2, c, mask);
      store_pair(line, first, second);
      if constexpr (kCopies > 1) store_pair({line.at + to.copy_bytes, line.block_bytes, line.both}, second, third);
      if constexpr (kCopies > 2)
        if (q > 0) store_pair({line.at + 2 * to.copy_bytes - kLineBytes, line.block_bytes, line.both}, first, second);
      first = third;
    }
    if constexpr (kCopies > 2)
      store_pair({line.at + 2 * to.copy_bytes - kLineBytes, line.block_bytes, line.both}, first,
                 voxel_quarters(row, 2 * to.pairs + 1, c, mask));
  }
}

}  // namespace

void copy_pairs(const VoxelRow& row, const PairLines& to) {
  if (to.copies == 2) return copy_pairs_of<2>(row, to);
  if (to.copies == 3) return copy_pairs_of<3>(row, to);
  for (std::int64_t k = 0; k < to.copies; ++k) {
    const std::uint16_t* data = row.data != nullptr ? row.data + k * row.stride : nullptr;
    const VoxelRow moved{data, row.stride, row.first - k, row.past - k, row.channels};
    PairLines copy = to;
    copy.data += k * to.copy_bytes;
    copy_pairs_of<1>(moved, copy);
  }
}

VOXSHARD_AMX_TARGET void transpose(const std::byte* from, std::byte* to, std::int64_t to_stride, bool past_cache) {
  __m512i a[16], b[16];
  for (int i = 0; i < 16; ++i) a[i] = _mm512_loadu_si512(from + i * kLineBytes);
  for (int i = 0; i < 16; i += 2) {
    b[i] = _mm512_unpacklo_epi32(a[i], a[i + 1]);
    b[i + 1] = _mm512_unpackhi_epi32(a[i], a[i + 1]);
  }
  for (int i = 0; i < 16; i += 4)
    for (int j = 0; j < 2; ++j) {
      a[i + 2 * j] = _mm512_unpacklo_epi64(b[i + j], b[i + j + 2]);
      a[i + 2 * j + 1] = _mm512_unpackhi_epi64(b[i + j], b[i + j + 2]);
    }
  // a[4 * i + j], quarter q: rows 4 * i .. 4 * i + 3 of column 4 * q + j.
  for (int j = 0; j < 4; ++j) {
    const __m512i low = _mm512_shuffle_i32x4(a[j], a[4 + j], 0x44), high = _mm512_shuffle_i32x4(a[j], a[4 + j], 0xee);
    const __m512i low2 = _mm512_shuffle_i32x4(a[8 + j], a[12 + j], 0x44),
                  high2 = _mm512_shuffle_i32x4(a[8 + j], a[12 + j], 0xee);
    b[j] = _mm512_shuffle_i32x4(low, low2, 0x88);
    b[4 + j] = _mm512_shuffle_i32x4(low, low2, 0xdd);
    b[8 + j] = _mm512_shuffle_i32x4(high, high2, 0x88);
    b[12 + j] = _mm512_shuffle_i32x4(high, high2, 0xdd);
  }
  if (past_cache)
    for (int i = 0; i < 16; ++i) _mm512_stream_si512(reinterpret_cast<__m512i*>(to + i * to_stride), b[i]);
  else
    for (int i = 0; i < 16; ++i) _mm512_storeu_si512(to + i * to_stride, b[i]);
}

namespace {

VOXSHARD_AMX_INLINE __m512 weights_at(const WeightSquare& w, std::int64_t at, __mmask16 mask) {
  if (!w.bf16) return _mm512_maskz_loadu_ps(mask, reinterpret_cast<const float*>(w.data) + at);
  const __m512i words =
      _mm512_cvtepu16_epi32(_mm256_maskz_loadu_epi16(mask, reinterpret_cast<const std::uint16_t*>(w.data) + at));
  return _mm512_castsi512_ps(_mm512_slli_epi32(words, 16));
}

/// Words of 4 bytes: `low` rounded in the lower halves, `high` rounded in the upper.
VOXSHARD_AMX_INLINE __m512i interleaved(__m512 low, __m512 high) {
  const __m512i both = reinterpret_cast<__m512i>(_mm512_cvtne2ps_pbh(high, low));
  const __m512i lows = _mm512_cvtepu16_epi32(_mm512_castsi512_si256(both));
  return _mm512_or_si512(lows, _mm512_slli_epi32(_mm512_cvtepu16_epi32(_mm512_extracti64x4_epi64(both, 1)), 16));
}

}  // namespace

VOXSHARD_AMX_TARGET void pack_weights(const WeightSquare& w, std::byte* to) {
  if (w.result_stride == 1) {
    const __mmask16 mask = lanes(w.results);
    for (std::int64_t k = 0; k < kDepth; k += 2) {
      const __m512 even = weights_at(w, k * w.source_stride, k < w.sources ? mask : __mmask16{0});
      const __m512 odd = weights_at(w, (k + 1) * w.source_stride, k + 1 < w.sources ? mask : __mmask16{0});
      _mm512_store_si512(to + k / 2 * kLineBytes, interleaved(even, odd));
    }
    return;
  }
  for (std::int64_t r = 0; r < kTileRows; ++r) {  // pairs lie side by side: a row of pairs for each result
    const bool held = r < w.results;
    const __m512 low = weights_at(w, r * w.result_stride, held ? lanes(w.sources) : __mmask16{0});
    const __m512 high =
        weights_at(w, r * w.result_stride + kTileRows, held ? lanes(w.sources - kTileRows) : __mmask16{0});
    _mm512_store_si512(to + r * kLineBytes, reinterpret_cast<__m512i>(_mm512_cvtne2ps_pbh(high, low)));
  }
  transpose(to, to, kLineBytes, false);
}

void end_past_cache() { _mm_sfence(); }

VOXSHARD_AMX_TARGET void store_bf16(const std::byte* sums, std::int64_t rows, const float* bias, std::int64_t channels,
                                    std::uint16_t* to, std::int64_t stride) {
  const __mmask32 mask = words(channels);
  for (std::int64_t r = 0; r < rows; ++r, to += stride) {
    const __m512 low = biased(sums, 0, r, bias);
    const __m512 high = channels > kTileRows ? biased(sums, 1, r, bias) : low;
    _mm512_mask_storeu_epi16(to, mask, reinterpret_cast<__m512i>(_mm512_cvtne2ps_pbh(high, low)));
  }
}

VOXSHARD_AMX_TARGET void store_f32(const std::byte* sums, std::int64_t rows, const float* bias, std::int64_t channels,
                                   float* to, std::int64_t stride) {
  for (std::int64_t r = 0; r < rows; ++r, to += stride)
    for (std::int64_t b = 0; b * kTileRows < channels; ++b)
      _mm512_mask_storeu_ps(to + b * kTileRows, lanes(channels - b * kTileRows), biased(sums, b, r, bias));
}

}  // namespace voxshard::amx::tiles
