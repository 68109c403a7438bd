// Shared by the parity tests: the stored numbers of PyTorch, and the parameters that both sides make.
#pragma once

#include <cmath>
#include <fstream>
#include <nlohmann/json.hpp>

#include "libcore/base/rng.h"
#include "libcore/runtime/core_set.h"

namespace voxshard {

/// Reads a file of tests/parity.
inline nlohmann::json stored_reference(const std::string& file) {
  std::ifstream in(std::string(VOXSHARD_SOURCE_DIR) + "/tests/parity/" + file);
  return nlohmann::json::parse(in);
}

/// Returns a uniform random number in [-1, 1).
inline double signed_uniform(std::uint64_t seed, const std::string& name, std::int64_t index) {
  return 2 * rng_uniform({seed, rng_stream(name)}, static_cast<std::uint64_t>(index)) - 1;
}

/// True for the parameters of the last convolution of a block of libcore/models/resnet.h.
inline bool ends_residual_block(const std::string& name, bool basic) {
  return name.starts_with("backbone/group") && name.find(basic ? "/conv2/" : "/conv3/") != std::string::npos;
}

/// Sets the parameters as residual_network.py does: kernels within the Glorot limit, the others within 0.1 of their
/// usual initial values, the gammas that are `last` within 0.1 of 0.2; states are not changed.
template <class Last>
void fill_parameters(Parameters& parameters, std::uint64_t seed, const Last& last) {
  for (auto& [name, tensor] : parameters) {
    const bool kernel = name.ends_with("/kernel"), gamma = name.ends_with("/gamma");
    if (!kernel && !gamma && !name.ends_with("/beta") && !name.ends_with("/bias")) continue;
    const std::int64_t count = tensor.count(), out = tensor.shape()[tensor.shape().axes() - 1];
    double limit = 0.1, middle = 0;
    if (gamma) middle = last(name) ? 0.2 : 1;
    if (kernel) {
      const std::int64_t in = tensor.shape()[tensor.shape().axes() - 2];
      limit = std::sqrt(6.0 / (static_cast<double>(count / (in * out)) * static_cast<double>(in + out)));
    }
    for (std::int64_t i = 0; i < count; ++i)
      tensor.template as<float>()[i] = static_cast<float>(middle + signed_uniform(seed, name, i) * limit);
  }
}

}  // namespace voxshard
