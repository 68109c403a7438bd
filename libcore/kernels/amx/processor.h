// Whether this process may use the AMX tiles of its processor, and their configuration around a kernel call.
#pragma once

namespace voxshard::amx {

/// True when the processor has amx_tile, amx_bf16 and the AVX-512 that the routines use, the system lets this process
/// keep tiles, and VOXSHARD_ISA allows them. Nothing else of this room may be called where it is false. Errors: those
/// of instruction_set (base/cpu.h).
bool available();

/// All eight tiles as 16 rows of 64 bytes, until it goes; then no tile is configured, which other libraries' code in
/// the same thread expects.
class TileScope {
 public:
  TileScope();
  ~TileScope();
  TileScope(const TileScope&) = delete;
  TileScope& operator=(const TileScope&) = delete;
};

}  // namespace voxshard::amx
