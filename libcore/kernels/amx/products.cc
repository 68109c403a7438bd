// Tile products. The functions contain only tile loads, products and stores: compilers do not know that a tile load
// reads memory, so another function must have written the data it reads.
#include <immintrin.h>

#include "libcore/kernels/amx/target.h"
#include "libcore/kernels/amx/tiles.h"

namespace voxshard::amx::tiles {
namespace {

/// C blocks are tiles 0 .. 3: A block i times B block j adds to tile 2 * i + j. A blocks are tiles 4, 5; B blocks are
/// 6, 7.
template <int kA, int kB>
VOXSHARD_AMX_TARGET inline __attribute__((always_inline)) void begin(const std::byte* sums, bool zero) {
  if (zero) {
    _tile_zero(0);
    if constexpr (kB > 1) _tile_zero(1);
    if constexpr (kA > 1) _tile_zero(2);
    if constexpr (kA > 1 && kB > 1) _tile_zero(3);
  } else {
    _tile_loadd(0, sums, kLineBytes);
    if constexpr (kB > 1) _tile_loadd(1, sums + kTileBytes, kLineBytes);
    if constexpr (kA > 1) _tile_loadd(2, sums + 2 * kTileBytes, kLineBytes);
    if constexpr (kA > 1 && kB > 1) _tile_loadd(3, sums + 3 * kTileBytes, kLineBytes);
  }
}

template <int kA, int kB>
VOXSHARD_AMX_TARGET inline __attribute__((always_inline)) void end(std::byte* sums) {
  _tile_stored(0, sums, kLineBytes);
  if constexpr (kB > 1) _tile_stored(1, sums + kTileBytes, kLineBytes);
  if constexpr (kA > 1) _tile_stored(2, sums + 2 * kTileBytes, kLineBytes);
  if constexpr (kA > 1 && kB > 1) _tile_stored(3, sums + 3 * kTileBytes, kLineBytes);
}

template <int kA, int kB>
VOXSHARD_AMX_TARGET inline __attribute__((always_inline)) void multiply(const std::byte* a0, const std::byte* a1,
                                                                        const std::byte* b0, const std::byte* b1) {
  _tile_loadd(6, b0, kLineBytes);
  _tile_loadd(4, a0, kLineBytes);
  _tile_dpbf16ps(0, 4, 6);
  if constexpr (kB > 1) {
    _tile_loadd(7, b1, kLineBytes);
    _tile_dpbf16ps(1, 4, 7);
  }
  if constexpr (kA > 1) {
    _tile_loadd(5, a1, kLineBytes);
    _tile_dpbf16ps(2, 5, 6);
    if constexpr (kB > 1) _tile_dpbf16ps(3, 5, 7);
  }
}

template <int kA, int kB>
VOXSHARD_AMX_TARGET void taps_of_tiles(const TapProducts& p, std::int64_t tile, std::int64_t first, std::int64_t past) {
  begin<kA, kB>(p.sums + tile * 2 * kTileBytes, first == 0);
  std::int64_t chunk = first / p.planes, plane = first % p.planes;
  const std::byte* b0 = p.weights[0] + first * p.tap_count * kWeightsStep;
  const std::byte* b1 = kB > 1 ? p.weights[1] + first * p.tap_count * kWeightsStep : nullptr;
  for (std::int64_t unit = first; unit < past; ++unit) {
    const std::byte* a0 = p.voxels[plane * p.tiles + tile] + chunk * p.chunk_bytes;
    const std::byte* a1 = kA > 1 ? p.voxels[plane * p.tiles + tile + 1] + chunk * p.chunk_bytes : nullptr;
    if (++plane == p.planes) plane = 0, ++chunk;
    const std::byte* next0 = p.voxels[plane * p.tiles + tile] + chunk * p.chunk_bytes;
    const std::byte* next1 = kA > 1 ? p.voxels[plane * p.tiles + tile + 1] + chunk * p.chunk_bytes : nullptr;
    for (std::int64_t t = 0; t < p.tap_count; ++t) {
      const std::byte *n0 = next0 + p.ahead[t], *n1 = kA > 1 ? next1 + p.ahead[t] : nullptr;
      for (std::int64_t line = 0; line < kAheadLines; ++line) {
        _mm_prefetch(n0 + line * kLineBytes, _MM_HINT_T0);
        if constexpr (kA > 1) _mm_prefetch(n1 + line * kLineBytes, _MM_HINT_T0);
      }
      multiply<kA, kB>(a0 + p.taps[t], kA > 1 ? a1 + p.taps[t] : nullptr, b0, b1);
      b0 += kWeightsStep;
      if constexpr (kB > 1) b1 += kWeightsStep;
    }
  }
  end<kA, kB>(p.sums + tile * 2 * kTileBytes);
}

template <int kA, int kB>
VOXSHARD_AMX_TARGET void groups(const GroupProducts& p, std::int64_t first, std::int64_t past, bool zero) {
  begin<kA, kB>(p.sums, zero);
  for (std::int64_t g = first; g < past; ++g) {
    const std::byte* x = p.x[g];
    multiply<kA, kB>(p.d_y[0] + g * kTileBytes, kA > 1 ? p.d_y[1] + g * kTileBytes : nullptr, x + p.offsets[0],
                     kB > 1 ? x + p.offsets[1] : nullptr);
  }
  end<kA, kB>(p.sums);
}

}  // namespace

VOXSHARD_AMX_TARGET void multiply_taps(const TapProducts& p, std::int64_t first_tile, std::int64_t past_tile,
                                       std::int64_t first, std::int64_t past) {
  std::int64_t tile = first_tile;
  for (; tile + 2 <= past_tile; tile += 2)
    p.weights[1] != nullptr ? taps_of_tiles<2, 2>(p, tile, first, past) : taps_of_tiles<2, 1>(p, tile, first, past);
  if (tile < past_tile)
    p.weights[1] != nullptr ? taps_of_tiles<1, 2>(p, tile, first, past) : taps_of_tiles<1, 1>(p, tile, first, past);
}

VOXSHARD_AMX_TARGET void multiply_groups(const GroupProducts& p, std::int64_t first, std::int64_t past, bool zero) {
  if (p.d_y[1] != nullptr)
    p.x_blocks > 1 ? groups<2, 2>(p, first, past, zero) : groups<2, 1>(p, first, past, zero);
  else
    p.x_blocks > 1 ? groups<1, 2>(p, first, past, zero) : groups<1, 1>(p, first, past, zero);
}

}  // namespace voxshard::amx::tiles
