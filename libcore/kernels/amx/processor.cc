#include "libcore/kernels/amx/processor.h"

#include <cpuid.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace voxshard::amx {
namespace {

/// Linux gives tiles to a process that asks: Documentation/arch/x86/xstate.rst.
bool may_keep_tiles() {
  constexpr long kRequestPermission = 0x1023, kTileData = 18;
  return syscall(SYS_arch_prctl, kRequestPermission, kTileData) == 0;
}

bool has_instructions() {
  unsigned a = 0, b = 0, c = 0, d = 0;
  if (__get_cpuid_count(7, 0, &a, &b, &c, &d) == 0) return false;
  const bool tiles = (d >> 22 & 1) != 0 && (d >> 24 & 1) != 0;
  if (__get_cpuid_count(7, 1, &a, &b, &c, &d) == 0) return false;
  const bool avx512_bf16 = (a >> 5 & 1) != 0;
  return tiles && avx512_bf16 && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
         __builtin_cpu_supports("avx512vl");
}

}  // namespace

bool available() {
  static const bool usable = has_instructions() && may_keep_tiles();
  return usable;
}

}  // namespace voxshard::amx
