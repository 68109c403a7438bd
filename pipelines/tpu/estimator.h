// TPUEstimator's evaluate and predict: applies a TPUConfig with its batch sizes to a trained model. Its conditions
// (tpu_config_check.cc) are checked against the cores that it runs on.
//
//   EstimatorOptions o{.config = config, .cores = 16};
//   apply(o, RunMode::kEvaluate, run.spec);     // its cut over the mesh of the config, or a refusal
#pragma once

#include "pipelines/model_runs/model_spec.h"
#include "pipelines/tpu/tpu_config.h"

namespace voxshard {

struct EstimatorOptions {
  TpuConfig config;
  std::int64_t cores = 0;   // cores of the system; 0: as many as the config, or the run, needs
  bool eval_on_tpu = true;  // false: evaluation on one core, uncut and without conditions, as in the original
};

/// Partitions `spec`, which has the run's partition, as the config says. A config without cores keeps the run's
/// partition. Predictions run one by one on one replica, however many there are.
/// Errors: those of check for the mode, and of apply (tpu_config_model.h); kConfig for more than 4096 cores.
void apply(const EstimatorOptions& options, RunMode mode, ModelSpec& spec);

}  // namespace voxshard
