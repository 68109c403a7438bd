// Which of Highway's instruction sets the kernels take, for tests of what every set must agree on.
#pragma once

#include <cstdint>

#include "libcore/kernels/winograd/vector_targets.h"

namespace voxshard::test {

/// Uses one instruction set of Highway's, until it goes. Sets that VOXSHARD_ISA forbids, or the processor lacks, are
/// left out: then the next of `targets` is used.
class UseTarget {
 public:
  explicit UseTarget(std::int64_t targets) { use(targets & (vector_targets() | HWY_SCALAR)); }
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
