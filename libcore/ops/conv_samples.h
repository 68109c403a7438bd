// Samples for measuring convolutions on a host (OpSample), and the shape of weights.
#pragma once

#include "libcore/graph/op_def.h"

namespace voxshard {

/// (K..., in, out).
Shape weight_shape(const Window& window, std::int64_t in, std::int64_t out);

OpUse conv_sample(const ProductSample& at);
OpUse input_grad_sample(const ProductSample& at);
OpUse weight_grad_sample(const ProductSample& at);

}  // namespace voxshard
