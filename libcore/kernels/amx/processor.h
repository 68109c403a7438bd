// Detects if this process may use the AMX tiles of its processor.
#pragma once

namespace voxshard::amx {

/// True when the processor has amx_tile, amx_bf16 and the AVX-512 that the routines use, the system lets this process
/// use tiles, and VOXSHARD_ISA allows them. No routine of kTiles (routines.h) may be called when it is false. Errors:
/// those of instruction_set (base/cpu.h).
bool available();

}  // namespace voxshard::amx
