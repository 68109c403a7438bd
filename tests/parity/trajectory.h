// Ten steps of SGD of a cut model, by its own kernels in f32 and by the slow ones in f64, held against PyTorch's f64.
//
//   expect_trajectory({.build = ..., .cut = ..., .fill = ..., .feed = ..., .extents = ..., .sgd = ...}, expected_case);
//
// A training amplifies rounding: what f32 does to a step is what one rounding does times the stored condition of that
// step (rounding.py). So f32, the runtime as it trains, is compared for as many steps as that is small; f64 for all
// ten.
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
  std::function<void(Parameters&)> fill;  // f32 parameters, from how they begin
  Trainer::Feed feed;
  Shape extents;
  OptimizerOptions sgd;  // with momentum and weight decay
  std::uint64_t seed = 0;
};

inline constexpr std::size_t kSteps = 10;

/// As a user trains: fast kernels, the optimizer, f32.
Trajectory run_f32(const ParityScene& scene, WorkerPool& pool);
/// With weights, activations, gradients and SGD in f64, on the slow kernels.
Trajectory run_f64(const ParityScene& scene, WorkerPool& pool);

/// One number beside PyTorch's.
struct Compared {
  std::string what;  // a parameter, "step 3"
  double mine = 0, theirs = 0, allowed = 0;

  double share() const { return std::abs(mine - theirs) / allowed; }
  bool agrees() const { return std::abs(mine - theirs) <= allowed; }
};

/// The gradient norm of every parameter, those whose true gradient is zero included, and losses up to the first step
/// whose allowance says nothing (kTellingPart), of what was computed in `type`, against a case of the stored numbers.
struct Comparison {
  std::vector<Compared> gradient_norms, losses;
};
Comparison compare(const Trajectory& mine, const nlohmann::json& expected, DType type);

/// Both runs agree; the largest shares of what is allowed are printed.
void expect_trajectory(const ParityScene& scene, const nlohmann::json& expected);

}  // namespace voxshard
