// TPUEstimator's evaluate and predict: a TPUConfig with its batch sizes over a model that is trained. Their conditions
// (tpu_config_check.cc) are asked of the cores that they run on.
//
//   EstimatorOptions o{.config = config, .cores = 16};
//   apply(o, RunMode::kEvaluate, run.spec);     // its cut over the mesh of the config, or a refusal
#pragma once

#include "pipelines/model_runs/model_spec.h"
#include "pipelines/tpu/tpu_config.h"

namespace voxshard {

struct EstimatorOptions {
  TpuConfig config;
  std::int64_t cores = 0;   // of the system; 0: as many as the config, or the run, needs
  bool eval_on_tpu = true;  // false: evaluation on one core, uncut; no condition holds there, as in the original
};

/// Cuts `spec`, whose cut is the run's, as the config says. A config that says nothing of cores leaves the cut.
/// Predictions go one by one over one replica, however many there are.
/// Errors: those of check for the mode, and of apply (tpu_config_model.h); kConfig for more than 4096 cores.
void apply(const EstimatorOptions& options, RunMode mode, ModelSpec& spec);

}  // namespace voxshard
