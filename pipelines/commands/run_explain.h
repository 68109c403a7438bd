// `voxshard explain`: prints each stage from model to run as text.
#pragma once

#include <string>

#include "pipelines/model_runs/model_spec.h"

namespace voxshard {

/// `stage`: "config" (the model and its cut, field by field), "graph" (forward), "grad" (with gradients), "program"
/// (instructions of the partition), "memory" (arenas), "passes" (the passes that the cut adds on the TPU `device`,
/// explain_passes.h; with its fusions, nothing else recomputed).
/// What is printed is verified, but for the passes, which are a price.
/// Errors: kConfig for another name; for a device that is no TPU; kInternal when a stage breaks an invariant.
std::string run_explain(const ModelSpec& spec, const Shape& extents, const std::string& stage,
                        const std::string& device = "tpu-v3");

}  // namespace voxshard
