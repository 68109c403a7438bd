// The command that `predict` on volumes suggests next.
#pragma once

#include <string>
#include <vector>

#include "pipelines/engine/requests.h"

namespace voxshard {

/// Returns evaluate when labels lie beside the images as in nnU-Net's folders, else report, with the images unless the
/// folder leads to them.
std::vector<std::string> next_of_prediction(const PredictOptions& options);

}  // namespace voxshard
