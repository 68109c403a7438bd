// Compares the optimizers' kernels with the slow ones; they are no ops of the graph, so comparisons of layers miss
// them. Each kind takes two steps, the second from slots filled by the first, on a model's own parameters and
// gradients.
//
//   const LayerReport report = check_optimizers(fast::optimizer, parameters, gradients, pool);
#pragma once

#include "libcore/check/layer_check.h"
#include "libcore/kernels/optimizer.h"

namespace voxshard {

/// `gradients`: by name of the parameter, f64. A difference is named {parameter, "optimizer adam"}. The tolerance
/// consists of roundings of f32: some of the weight, more of the value added to it, and some of the largest value of a
/// slot.
LayerReport check_optimizers(const OptimizerKernels& kernels, const Parameters& parameters,
                             const std::map<std::string, Tensor>& gradients, WorkerPool& pool);

}  // namespace voxshard
