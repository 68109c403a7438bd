// What the rounding of a sum of products may amount to. Whoever compares two ways of adding the same products asks
// here.
#pragma once

#include "libcore/tensor/dtype.h"

namespace voxshard {

/// Half the distance of neighbouring numbers at 1.
double epsilon_of(DType dtype);

/// What the rounding of an f32 sum of `products` products may amount to, whatever their order: errors of either sign
/// grow like a random walk. `magnitude`: the sum of |products|. Source: Higham and Mary, A new approach to
/// probabilistic rounding error analysis, SIAM J. Sci. Comput. 41 (2019), theorem 2.4.
double product_allowance(double products, double magnitude);

}  // namespace voxshard
