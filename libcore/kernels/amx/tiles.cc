#include "libcore/kernels/amx/tiles.h"

#include <immintrin.h>

#include "libcore/kernels/amx/target.h"

namespace voxshard::amx {
namespace tiles {
namespace {

struct alignas(64) TileConfig {
  std::uint8_t palette = 1, start_row = 0, reserved[14] = {};
  std::uint16_t row_bytes[16] = {64, 64, 64, 64, 64, 64, 64, 64};
  std::uint8_t rows[16] = {16, 16, 16, 16, 16, 16, 16, 16};
};
static_assert(sizeof(TileConfig) == 64);

constexpr TileConfig kAllTiles;

}  // namespace

VOXSHARD_AMX_TARGET void load_config() { _tile_loadconfig(&kAllTiles); }
VOXSHARD_AMX_TARGET void release() { _tile_release(); }

}  // namespace tiles

const Routines kTiles = {.name = "tiles",
                         .begin = tiles::load_config,
                         .end = tiles::release,
                         .multiply_taps = tiles::multiply_taps,
                         .multiply_groups = tiles::multiply_groups,
                         .copy_lines = tiles::copy_lines,
                         .copy_pairs = tiles::copy_pairs,
                         .transpose = tiles::transpose,
                         .end_past_cache = tiles::end_past_cache,
                         .pack_weights = tiles::pack_weights,
                         .store_bf16 = tiles::store_bf16,
                         .store_f32 = tiles::store_f32};

}  // namespace voxshard::amx
