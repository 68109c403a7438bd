// The Highway instruction sets that the kernels use: those up to instruction_set() (base/cpu.h).
//
//   HWY_EXPORT(Multiply);
//   void multiply(const Products& p) { VOXSHARD_DISPATCH(Multiply)(p); }
#pragma once

#include <hwy/highway.h>

#include <cstdint>

namespace voxshard {

/// The sets that Highway finds on this processor, without those above instruction_set(). The first call sets Highway's
/// limit. Errors: those of instruction_set().
std::int64_t vector_targets();

/// Highway's name for the set in use, "AVX3", among those that a source was `compiled` for.
const char* vector_target_name(std::int64_t compiled);

}  // namespace voxshard

/// HWY_DYNAMIC_DISPATCH within the limit.
#define VOXSHARD_DISPATCH(function) (static_cast<void>(::voxshard::vector_targets()), HWY_DYNAMIC_DISPATCH(function))
