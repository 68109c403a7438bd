// Chooses the Highway instruction set that kernels use, for tests of results on which all sets must agree.
#pragma once

#include <cstdint>

#include "libcore/kernels/winograd/vector_targets.h"

namespace voxshard::test {

/// The set that every processor of the build has: SCALAR, or SSE2 in Highway 1.0.4 and later.
inline constexpr std::int64_t kPlainTarget = HWY_STATIC_TARGET;

/// Uses one Highway instruction set during its lifetime. Sets that VOXSHARD_ISA forbids, or the processor lacks, are
/// left out: then the next of `targets` is used.
class UseTarget {
 public:
  explicit UseTarget(std::int64_t targets) { use(targets & (vector_targets() | kPlainTarget)); }
  ~UseTarget() { use(vector_targets()); }
  UseTarget(const UseTarget&) = delete;
  UseTarget& operator=(const UseTarget&) = delete;

 private:
  static void use(std::int64_t targets) {
    hwy::SetSupportedTargetsForTest(targets);
    hwy::GetChosenTarget().Update(hwy::SupportedTargets());
  }
};

}  // namespace voxshard::test
