// What the parity tests share: the stored numbers of PyTorch, and ten steps of SGD held against them.
#pragma once

#include <gtest/gtest.h>

#include <cmath>
#include <fstream>
#include <nlohmann/json.hpp>

#include "libcore/base/rng.h"
#include "libcore/train/trainer.h"

namespace voxshard {

/// A file of tests/parity.
inline nlohmann::json stored_reference(const std::string& file) {
  std::ifstream in(std::string(VOXSHARD_SOURCE_DIR) + "/tests/parity/" + file);
  return nlohmann::json::parse(in);
}

/// In [-1, 1).
inline double signed_uniform(std::uint64_t seed, const std::string& name, std::int64_t index) {
  return 2 * rng_uniform({seed, rng_stream(name)}, static_cast<std::uint64_t>(index)) - 1;
}

/// Whether a parameter is of the last convolution of a block of libcore/models/resnet.h.
inline bool ends_residual_block(const std::string& name, bool basic) {
  return name.starts_with("backbone/group") && name.find(basic ? "/conv2/" : "/conv3/") != std::string::npos;
}

/// The parameters of residual_network.py: kernels within the Glorot limit, the others within 0.1 of where they usually begin,
/// the gammas that are `last` within 0.1 of 0.2; states stay.
template <class Last>
void fill_parameters(Parameters& parameters, std::uint64_t seed, const Last& last) {
  for (auto& [name, tensor] : parameters) {
    const bool kernel = name.ends_with("/kernel"), gamma = name.ends_with("/gamma");
    if (!kernel && !gamma && !name.ends_with("/beta") && !name.ends_with("/bias")) continue;
    const std::int64_t count = tensor.count(), out = tensor.shape()[tensor.shape().rank() - 1];
    double limit = 0.1, middle = 0;
    if (gamma) middle = last(name) ? 0.2 : 1;
    if (kernel) {
      const std::int64_t in = tensor.shape()[tensor.shape().rank() - 2];
      limit = std::sqrt(6.0 / (static_cast<double>(count / (in * out)) * static_cast<double>(in + out)));
    }
    for (std::int64_t i = 0; i < count; ++i)
      tensor.template as<float>()[i] = static_cast<float>(middle + signed_uniform(seed, name, i) * limit);
  }
}

struct Agreement {
  double loss = 0, gradient = 0;  // relative
  bool (*is_zero)(const std::string& name) =
      nullptr;            // parameters whose true gradient is zero: what is left is rounding
  std::size_t zeros = 0;  // how many those are
};

/// Ten steps: each loss and, in the first, the gradient norm of every parameter, as in a case of the stored numbers.
template <class Feed>
void expect_ten_steps(Trainer& trainer, const Shape& extents, const Feed& feed, const nlohmann::json& expected,
                      const Agreement& within) {
  for (std::size_t step = 0; step < 10; ++step) {
    const StepResult result = trainer.step(extents, feed);
    const double loss = expected.at("losses").at(step);
    EXPECT_NEAR(result.loss, loss, within.loss * loss) << "step " << step;
    if (step > 0) continue;
    std::size_t compared = 0;
    for (const auto& [name, gradient] : trainer.gradients()) {
      if (within.is_zero(name)) continue;
      double square = 0;
      for (std::int64_t i = 0; i < gradient.count(); ++i) square += load(gradient, i) * load(gradient, i);
      const double theirs = expected.at("gradient_norms").at(name);
      EXPECT_NEAR(std::sqrt(square), theirs, within.gradient * theirs + 1e-7) << name;
      ++compared;
    }
    EXPECT_EQ(compared, expected.at("gradient_norms").size() - within.zeros);
  }
}

}  // namespace voxshard
