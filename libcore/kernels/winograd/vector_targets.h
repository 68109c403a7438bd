// Which of Highway's instruction sets the kernels take: those up to instruction_set() (base/cpu.h).
//
//   HWY_EXPORT(Multiply);
//   void multiply(const Products& p) { VOXSHARD_DISPATCH(Multiply)(p); }
#pragma once

#include <hwy/highway.h>

#include <cstdint>

namespace voxshard {

/// Those that Highway finds on this processor, without those above instruction_set(). The first call tells Highway.
/// Errors: those of instruction_set().
std::int64_t vector_targets();

/// "AVX3": Highway's name of the one in use, of those that a source was `compiled` for.
const char* vector_target_name(std::int64_t compiled);

}  // namespace voxshard

/// HWY_DYNAMIC_DISPATCH within the limit.
#define VOXSHARD_DISPATCH(function) (static_cast<void>(::voxshard::vector_targets()), HWY_DYNAMIC_DISPATCH(function))
