// Random inputs and parameters that a check of a model runs on.
//
//   const auto inputs = random_inputs(graph, DType::kF32, seed);   // "image", "labels", ... by name
#pragma once

#include "libcore/runtime/core_set.h"

namespace voxshard {

/// Of every input of the training graph, as values that `dtype` can hold.
std::map<std::string, Tensor> random_inputs(const Graph& graph, DType dtype, std::uint64_t seed);

/// Initial parameters; those that begin constant (biases, gamma, beta) are moved off their special values.
Parameters random_parameters(const Graph& graph, std::uint64_t seed);

/// Feeds every input of the graph with its tensor.
void feed(CoreSet& cores, const std::map<std::string, Tensor>& inputs);

}  // namespace voxshard
