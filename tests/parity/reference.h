// What the parity tests share: the stored numbers of PyTorch, and ten steps of SGD held against them.
#pragma once

#include <gtest/gtest.h>

#include <cmath>
#include <fstream>
#include <nlohmann/json.hpp>

#include "libcore/train/trainer.h"

namespace voxshard {

/// A file of tests/parity.
inline nlohmann::json stored_reference(const std::string& file) {
  std::ifstream in(std::string(VOXSHARD_SOURCE_DIR) + "/tests/parity/" + file);
  return nlohmann::json::parse(in);
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
