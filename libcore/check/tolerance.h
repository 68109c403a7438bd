// Tolerances between two results that differ only in the rounding of sums and of the result itself.
#pragma once

#include <map>

#include "libcore/check/oracle.h"
#include "libcore/runtime/core_set.h"
#include "libcore/tensor/rounding.h"

namespace voxshard {

/// Returns half the distance between neighbouring numbers at `value`: the largest change by rounding it to the type.
///   example: bf16 at 1.5 -> 2^-8, at 2 -> 2^-7, at 1.99 -> 2^-8; f64 -> 0, as no reference is more exact
double half_spacing(double value, DType dtype);

/// A sum over the voxels of the driver of a contraction.
struct LongSum {
  double length = 0;  // addends
  double addend = 0;  // typical size of an addend
  double block = 0;   // most addends added in sequence before blocks are joined in a tree; 0: all
};

/// Returns the tolerance for the rounding errors of that sum, added in `arithmetic`. The k-th addition rounds the k-th
/// partial sum s_k, so the errors, of random sign, amount to epsilon * sqrt(sum s_k^2). Addends of either sign
/// (gradients, f32): s_k ~ sqrt(k) addend, in total ~ length. The sum also grows linearly to its `value`: each block
/// grows to its part of the value, which adds sqrt(length) / B * value for B blocks together, and each level of the
/// tree adds one rounding of at most the value. The standard deviation of a rounding is at most 0.58 epsilon, and s_k =
/// k / n of the value gives 0.33 sqrt(n) epsilon; 2 sqrt(n) is six such deviations, while the extreme of a million sums
/// is five. Addends of one sign (squares, probabilities; these sums are f64): s_k ~ k, in total ~ length^1.5.
double sum_allowance(const LongSum& sum, DType arithmetic, double value = 0);

/// Returns the root mean square of each channel. By Cauchy-Schwarz the sum over positions of |products| of two channels
/// is at most the number of positions times the rms of both. An rms over all channels would miss the few channels that
/// carry most of a gradient.
std::vector<double> channel_rms(const TensorView& values, WorkerPool& pool);

/// Gives the size of the sum behind each element of a contraction's result: the typical addend, from the rms of the
/// driver's channel that the element depends on and the largest channel rms of each other input. Empty for an op that
/// contracts nothing.
class LongSums {
 public:
  explicit LongSums(WorkerPool& pool) : pool_(pool) {}
  /// `ids`: values of the inputs, under which their rms is cached; empty: nothing is cached.
  /// `blocks`: boxes of the driver, each added in sequence; none: one sequence over everything.
  std::vector<LongSum> of(const Layer& layer, std::span<const ValueId> ids, const std::vector<Box>& blocks = {});
  /// Returns the largest of these.
  LongSum widest(const Layer& layer, std::span<const ValueId> ids);

 private:
  std::vector<double> rms_of(const Layer& layer, std::size_t input, std::span<const ValueId> ids);

  WorkerPool& pool_;
  std::map<ValueId, std::vector<double>> known_;
};

/// The worst difference of two results: the one with the largest ratio to its tolerance.
struct Worst {
  double difference = 0, allowed = 0, ratio = 0;

  void add(double a, double b, double may_differ);
  /// Adds a value `found` that was rounded to `dtype` from a number at most `may_differ` off `exact`: only the
  /// difference beyond that rounding counts.
  void add_rounded(double found, double exact, DType dtype, double may_differ);
  void add(const Worst& other) {
    if (other.ratio > ratio) *this = other;
  }
  bool too_far() const { return ratio > 1; }
};

}  // namespace voxshard
