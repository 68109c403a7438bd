// Random inputs and parameters for the check of a model.
//
//   const auto inputs = random_inputs(graph, DType::kF32, seed);   // "image", "labels", ... by name
#pragma once

#include "libcore/runtime/core_set.h"

namespace voxshard {

/// Returns random values for every input of the training graph, representable in `dtype`.
std::map<std::string, Tensor> random_inputs(const Graph& graph, DType dtype, std::uint64_t seed);

/// Returns initial parameters; those with constant initial values (biases, gamma, beta) are moved away from them.
Parameters random_parameters(const Graph& graph, std::uint64_t seed);

/// Feeds each input of the graph with its tensor.
void feed(CoreSet& cores, const std::map<std::string, Tensor>& inputs);

}  // namespace voxshard
