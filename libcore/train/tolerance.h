// How far a result may lie from another that differs in nothing but the rounding of sums.
#pragma once

#include "libcore/runtime/core_set.h"
#include "libcore/tensor/rounding.h"

namespace voxshard {

/// product_allowance (tensor/rounding.h) for a contraction of node `id` of a core set that has run and keeps all, added
/// up in `arithmetic`: from the length of the sum and the size of an addend. 0 for an op that contracts nothing.
double sum_allowance(const CoreSet& uncut, const OpTable& ops, ValueId id, DType arithmetic);

/// The largest difference of two results, by how much of what is allowed it is.
struct Worst {
  double difference = 0, allowed = 0, ratio = 0;

  void add(double a, double b, double may_differ);
  bool too_far() const { return ratio > 1; }
};

}  // namespace voxshard
