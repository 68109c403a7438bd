// Bounds on the rounding error of a sum of products. Code that compares two orders of adding the same products uses
// them as its tolerance.
#pragma once

#include "libcore/tensor/dtype.h"

namespace voxshard {

/// The unit roundoff: half the distance of neighbouring numbers at 1.
double epsilon_of(DType dtype);

/// The rounding error that an f32 sum of `products` products may have, whatever their order: errors of either sign
/// grow like a random walk. `magnitude`: the sum of |products|. Source: Higham and Mary, A new approach to
/// probabilistic rounding error analysis, SIAM J. Sci. Comput. 41 (2019), theorem 2.4.
double product_allowance(double products, double magnitude);

}  // namespace voxshard
