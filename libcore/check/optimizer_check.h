// The optimizers' kernels against the slow ones: no op of the graph, so that no comparison of layers sees them. Each
// kind takes two steps, the second from slots that the first has filled, on a model's own parameters and gradients.
//
//   const LayerReport report = check_optimizers(fast::optimizer, parameters, gradients, pool);
#pragma once

#include "libcore/check/layer_check.h"
#include "libcore/kernels/optimizer.h"

namespace voxshard {

/// `gradients` by the names of the parameters, f64. A difference is named {parameter, "optimizer adam"}. Allowed are
/// roundings of f32: some of the weight, more of what was added to it, and of the largest value of a slot.
LayerReport check_optimizers(const OptimizerKernels& kernels, const Parameters& parameters,
                             const std::map<std::string, Tensor>& gradients, WorkerPool& pool);

}  // namespace voxshard
