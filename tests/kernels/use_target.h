// Which of Highway's instruction sets the kernels take, for tests of what every set must agree on.
#pragma once

#include <hwy/highway.h>

#include <cstdint>

namespace voxshard::test {

/// Uses one instruction set of Highway's, until it goes.
class UseTarget {
 public:
  explicit UseTarget(std::int64_t target) {
    hwy::SetSupportedTargetsForTest(target);
    hwy::GetChosenTarget().Update(hwy::SupportedTargets());
  }
  ~UseTarget() {
    hwy::SetSupportedTargetsForTest(0);
    hwy::GetChosenTarget().Update(hwy::SupportedTargets());
  }
};

}  // namespace voxshard::test
