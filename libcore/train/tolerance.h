// How far a result may lie from another that differs in nothing but the rounding of sums.
#pragma once

#include "libcore/runtime/core_set.h"

namespace voxshard {

/// Half the distance of neighbouring numbers at 1.
double epsilon_of(DType dtype);

/// What the rounding of an f32 sum of `products` products may amount to, whatever their order: errors of either sign
/// grow like a random walk. `magnitude`: the sum of |products|. Source: Higham and Mary, A new approach to
/// probabilistic rounding error analysis, SIAM J. Sci. Comput. 41 (2019), theorem 2.4.
double product_allowance(double products, double magnitude);

/// The same for a contraction of node `id` of a core set that has run and keeps all, added up in `arithmetic`: from the
/// length of the sum and the size of an addend. 0 for an op that contracts nothing.
double sum_allowance(const CoreSet& uncut, const OpTable& ops, ValueId id, DType arithmetic);

/// The largest difference of two results, by how much of what is allowed it is.
struct Worst {
  double difference = 0, allowed = 0, ratio = 0;

  void add(double a, double b, double may_differ);
  bool too_far() const { return ratio > 1; }
};

}  // namespace voxshard
