#include "libcore/kernels/amx/processor.h"

#include <immintrin.h>

#include <cstdint>

#include "libcore/base/cpu.h"
#include "libcore/kernels/amx/target.h"

namespace voxshard::amx {
namespace {

struct alignas(64) TileConfig {
  std::uint8_t palette = 1, start_row = 0, reserved[14] = {};
  std::uint16_t row_bytes[16] = {64, 64, 64, 64, 64, 64, 64, 64};
  std::uint8_t rows[16] = {16, 16, 16, 16, 16, 16, 16, 16};
};
static_assert(sizeof(TileConfig) == 64);

constexpr TileConfig kAllTiles;

VOXSHARD_AMX_TARGET void load_config() { _tile_loadconfig(&kAllTiles); }
VOXSHARD_AMX_TARGET void release() { _tile_release(); }

}  // namespace

bool available() { return instruction_set() >= InstructionSet::kAmx; }

TileScope::TileScope() { load_config(); }
TileScope::~TileScope() { release(); }

}  // namespace voxshard::amx
