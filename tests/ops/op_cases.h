// The parity cases of every op, one function per family; parity_test.cc runs them all and checks that no op is
// forgotten.
#pragma once

#include "tests/ops/op_harness.h"

namespace voxshard::test {

std::vector<OpCase> conv_cases();       // conv, conv_input_grad, conv_weight_grad
std::vector<OpCase> pool_cases();       // pools, up-sampling and their gradients
std::vector<OpCase> norm_cases();       // norms in pieces
std::vector<OpCase> pointwise_cases();  // element by element, channels, sums
std::vector<OpCase> loss_cases();       // segmentation losses
std::vector<OpCase> detection_cases();  // losses of a detector

}  // namespace voxshard::test
