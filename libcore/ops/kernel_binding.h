// Binds a pair of kernel functions (reference, fast) to an op: the op file gives one lambda that calls `fn` with views.
#pragma once

#include "libcore/graph/op_def.h"

namespace voxshard {

/// A kernel that calls `body(fn, call)` with the function of the chosen set.
template <class Function, class Body>
std::unique_ptr<Kernel> bind_kernel(KernelSet set, Function* reference, Function* fast, Body body) {
  Function* fn = set == KernelSet::kFast ? fast : reference;
  return std::make_unique<FunctionKernel>([fn, body](const KernelCall& call) { body(fn, call); });
}

}  // namespace voxshard
