// Every optimizer's fast kernels against the slow ones, on the weights and gradients of a run: a graph ends with its
// gradients, so that what a step then does with them is checked beside it.
//
//   if (const auto found = check_optimizers(parameters, gradients, pool)) ...     // {"head/kernel", "optimizer
//   adam", ...}
#pragma once

#include <optional>

#include "libcore/train/optimizer.h"
#include "libcore/train/unequal.h"

namespace voxshard {

/// Two steps of each kind, with every slot that it may have, and the global norm. Kernels go element by element, so
/// that of a parameter of more than some ten thousand elements as many are taken, those of its last vector among them.
///   gradients  by parameter name, f32; each is scaled to an rms of 1, so that a step is seen beside the weight
///   returns    the first parameter whose weights or slots differ by more than some roundings of f32 from the slow
///   steps'
std::optional<LayerDifference> check_optimizers(const Parameters& parameters, const Gradients& gradients,
                                                WorkerPool& pool, const OptimizerKernels& kernels = fast::optimizer);

}  // namespace voxshard
