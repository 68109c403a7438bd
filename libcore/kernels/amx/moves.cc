// Copies between tensors and tiles, in vector registers.
// GCC 12 takes the undefined operand of its own intrinsics for a mistake of ours (its bug 105593).
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC diagnostic ignored "-Wmaybe-uninitialized"
#pragma GCC diagnostic ignored "-Wuninitialized"
#endif
#include <immintrin.h>

#include <algorithm>

#include "libcore/kernels/amx/routines.h"
#include "libcore/kernels/amx/target.h"

namespace voxshard::amx {
namespace {

#define VOXSHARD_AMX_INLINE VOXSHARD_AMX_TARGET inline __attribute__((always_inline))

VOXSHARD_AMX_INLINE __mmask32 words(std::int64_t count) {
  return count >= 32 ? ~__mmask32{0} : count <= 0 ? 0 : (__mmask32{1} << count) - 1;
}

VOXSHARD_AMX_INLINE __mmask16 lanes(std::int64_t count) {
  return static_cast<__mmask16>(words(std::min<std::int64_t>(count, 16)));
}

alignas(64) constexpr std::uint16_t kNothing[32] = {};

/// 16 words of voxel i as words of 4 bytes.
VOXSHARD_AMX_INLINE __m512i voxel_words(const VoxelRow& row, std::int64_t i, std::int64_t channel, __mmask16 mask) {
  const std::uint16_t* from = i >= row.first && i < row.past ? row.data + i * row.stride + channel : kNothing;
  return _mm512_cvtepu16_epi32(_mm256_maskz_loadu_epi16(mask, from));
}

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
    const std::uint16_t* voxel = row.data + (from + i) * row.stride;
    std::byte* line = to + i * kLineBytes;
    for (std::int64_t c = 0; c < whole; ++c, line += chunk_bytes)
      _mm512_store_si512(line, held ? _mm512_loadu_si512(voxel + c * kDepth) : _mm512_setzero_si512());
    if (left > 0)
      _mm512_store_si512(line, held ? _mm512_maskz_loadu_epi16(mask, voxel + whole * kDepth) : _mm512_setzero_si512());
  }
}

VOXSHARD_AMX_TARGET void copy_pairs(const VoxelRow& row, const PairLines& to) {
  const std::int64_t past = 2 * to.pairs + to.copies - 2;  // lines begin with voxels 0 .. past - 1
  for (std::int64_t c = 0; c < row.channels; c += kTileRows) {
    const __mmask16 mask = lanes(row.channels - c);
    std::byte* block = to.data + c / kTileRows * to.block_bytes;
    __m512i first = voxel_words(row, 0, c, mask);
    for (std::int64_t i = 0; i < past; ++i) {
      const __m512i second = voxel_words(row, i + 1, c, mask);
      const __m512i line = _mm512_or_si512(first, _mm512_slli_epi32(second, 16));
      for (std::int64_t k = i % 2; k < to.copies; k += 2) {
        const std::int64_t q = (i - k) / 2;
        if (i >= k && q < to.pairs) _mm512_store_si512(block + k * to.copy_bytes + q * kLineBytes, line);
      }
      first = second;
    }
  }
}

VOXSHARD_AMX_TARGET void transpose(const std::byte* from, std::byte* to, std::int64_t to_stride) {
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
  for (int i = 0; i < 16; ++i) _mm512_storeu_si512(to + i * to_stride, b[i]);
}

namespace {

VOXSHARD_AMX_INLINE __m512 weights_at(const WeightSquare& w, std::int64_t at, __mmask16 mask) {
  if (!w.bf16) return _mm512_maskz_loadu_ps(mask, reinterpret_cast<const float*>(w.data) + at);
  const __m512i words =
      _mm512_cvtepu16_epi32(_mm256_maskz_loadu_epi16(mask, reinterpret_cast<const std::uint16_t*>(w.data) + at));
  return _mm512_castsi512_ps(_mm512_slli_epi32(words, 16));
}

/// Words of 4 bytes: low in the lower halves, high in the upper, rounded.
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
  transpose(to, to, kLineBytes);
}

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

}  // namespace voxshard::amx
