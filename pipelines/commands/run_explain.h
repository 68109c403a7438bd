// `voxshard explain`: each stage of the road from model to run as text.
#pragma once

#include <string>

#include "pipelines/runs/model_spec.h"

namespace voxshard {

/// `stage`: "config" (the model and its cut, field by field), "graph" (forward), "grad" (with gradients), "program" (instructions of the partition), "memory" (arenas).
/// Errors: kConfig for another name.
std::string run_explain(const ModelSpec& spec, const Shape& extents, const std::string& stage);

}  // namespace voxshard
