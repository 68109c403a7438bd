// The allowed difference between a number and its reference: a function of how many terms are added up, in which type,
// and of the condition of the case. It has no constants of cases or processors.
//
//   allowance({.terms = 1152, .magnitude = 3.2})                         one sum of 1152 f32 products
//   allowance(measured(terms, condition), DType::kF64)                   a loss of a trajectory in f64
#pragma once

#include <cmath>

#include "libcore/check/tolerance.h"

namespace voxshard {

/// The sensitivity of a number to rounding.
struct Condition {
  double terms = 1;      // the products of the longest sum that it depends on
  double magnitude = 0;  // its movement per unit of rounding of such a sum; for one sum itself, the sum of its |terms|
};

/// Returns the allowed difference. Errors of either sign of `terms` roundings are a random walk; eight deviations of it
/// are allowed (product_allowance()). A number that depends on sums in other ways moves by its condition times their
/// error: Higham, Accuracy and Stability of Numerical Algorithms (2002), section 1.6, "forward error <= condition
/// number x backward error".
inline double allowance(const Condition& condition, DType type = DType::kF32) {
  return product_allowance(condition.terms, condition.magnitude) * (epsilon_of(type) / epsilon_of(DType::kF32));
}

/// Returns the condition of a number that was found by moving what it depends on (rounding.py); `largest` is the most
/// that it moved in eight runs. A ninth run moves it further in one of nine cases, and by a few times where values that
/// cross a ReLU are rare but move it far. Hence the factor four, as for a run at one precision against another in
/// libcore/check/equivalence.cc.
inline Condition measured(double terms, double largest) { return {.terms = terms, .magnitude = 4 * largest}; }

/// The largest relative movement by rounding at which a comparison is still meaningful; numbers that move further are
/// compared in f64.
inline constexpr double kTellingPart = 0x1p-8;

}  // namespace voxshard
