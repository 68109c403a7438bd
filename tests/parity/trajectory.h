// Ten steps of SGD of a cut model, by its own kernels in f32 and by the slow ones in f64, compared with PyTorch's f64.
//
//   expect_trajectory({.build = ..., .cut = ..., .fill = ..., .feed = ..., .extents = ..., .sgd = ...}, expected_case);
//
// Training amplifies rounding: the error of a step in f32 is the effect of one rounding times the stored condition of
// that step (rounding.py). So the run in f32, which is the runtime as it trains, is compared for as many steps as this
// error is small; the run in f64 for all ten.
#pragma once

#include <functional>
#include <nlohmann/json.hpp>

#include "libcore/lower/lower.h"
#include "libcore/train/trainer.h"
#include "tests/parity/allowance.h"

namespace voxshard {

struct GradientNorm {
  double value = 0, elements = 1;
};

struct Trajectory {
  std::vector<double> losses;
  std::map<std::string, GradientNorm> gradient_norms;  // of the first step
};

struct ParityScene {
  std::function<Graph(DType type)> build;  // forward, with its loss
  Cut cut;
  std::function<void(Parameters&)> fill;  // sets f32 parameters, given the initial ones
  Trainer::Feed feed;
  Shape extents;
  OptimizerOptions sgd;  // with momentum and weight decay
  std::uint64_t seed = 0;
};

inline constexpr std::size_t kSteps = 10;

/// Trains as a user does: fast kernels, the optimizer, f32.
Trajectory run_f32(const ParityScene& scene, WorkerPool& pool);
/// Trains with weights, activations, gradients and SGD in f64, on the slow kernels.
Trajectory run_f64(const ParityScene& scene, WorkerPool& pool);

/// One number and PyTorch's.
struct Compared {
  std::string what;  // a parameter, "step 3"
  double mine = 0, theirs = 0, allowed = 0;

  double share() const { return std::abs(mine - theirs) / allowed; }
  bool agrees() const { return std::abs(mine - theirs) <= allowed; }
};

/// The comparison of a run in `type` with a case of the stored numbers: the gradient norm of every parameter, including
/// those whose true gradient is zero, and losses up to the first step whose allowance is too large (kTellingPart).
struct Comparison {
  std::vector<Compared> gradient_norms, losses;
};
Comparison compare(const Trajectory& mine, const nlohmann::json& expected, DType type);

/// Expects both runs to agree with PyTorch; prints the largest shares of the allowed differences.
void expect_trajectory(const ParityScene& scene, const nlohmann::json& expected);

}  // namespace voxshard
