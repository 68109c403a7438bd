#include "libcore/kernels/winograd/vector_targets.h"

#include "libcore/base/cpu.h"

namespace voxshard {
namespace {

std::int64_t limited_targets() {
  const std::int64_t found = hwy::SupportedTargets();
  if (instruction_set() >= InstructionSet::kAvx512) return found;
  const std::int64_t narrow = found & ~std::int64_t{HWY_AVX2 - 1};  // in Highway lower bits are wider sets
  // DisableTargets does not serve here: SupportedTargets() lets the next dispatch use the disabled sets again.
  hwy::SetSupportedTargetsForTest(narrow);
  return narrow;
}

}  // namespace

std::int64_t vector_targets() {
  static const std::int64_t targets = limited_targets();
  return targets;
}

const char* vector_target_name(std::int64_t compiled) {
  vector_targets();
  const std::int64_t usable = hwy::SupportedTargets() & compiled;
  return hwy::TargetName(usable & -usable);
}

}  // namespace voxshard
