// How far a result may lie from another that differs in nothing but the rounding of sums and of itself.
#pragma once

#include <map>

#include "libcore/check/oracle.h"
#include "libcore/runtime/core_set.h"
#include "libcore/tensor/rounding.h"

namespace voxshard {

/// Half the distance of neighbouring numbers at `value`: what rounding it to the type may change it by.
///   example: bf16 at 1.5 -> 2^-8, at 2 -> 2^-7, at 1.99 -> 2^-8; f64 -> 0, as nothing here is more exact
double half_spacing(double value, DType dtype);

/// A sum over the voxels of the driver of a contraction.
struct LongSum {
  double length = 0;  // addends
  double addend = 0;  // the typical size of one
  double block = 0;   // the most of them that are added in one go, before blocks are joined in a tree; 0: all
};

/// What the rounding of that sum may amount to, added up in `arithmetic`. The k-th addition rounds the k-th partial sum
/// s_k, so that the errors, of either sign, come to epsilon * sqrt(sum s_k^2). Addends of either sign (gradients, f32):
/// s_k ~ sqrt(k) addend, in all ~ length. To which comes what grows straight to the sum itself (`value`): in each block
/// to its part of it, of B blocks together sqrt(length) / B * value, and a rounding of up to the value for each level
/// of the tree. The standard deviation of a rounding is 0.58 epsilon at most, and s_k = k / n of the value gives 0.33
/// sqrt(n) epsilon: twice sqrt(n) is six of them, where the extreme of a million sums is five. Addends of one sign
/// (squares, probabilities; these sums are f64): s_k ~ k, in all ~ length^1.5.
double sum_allowance(const LongSum& sum, DType arithmetic, double value = 0);

/// The root mean square of each channel. By Cauchy and Schwarz no sum over positions of products of two channels is, in
/// magnitudes, more than their number times both of these; an rms over all channels would miss the few that most of a
/// gradient is in.
std::vector<double> channel_rms(const TensorView& values, WorkerPool& pool);

/// Per element of a contraction's result how large what it sums is: what the addends come to with the rms of the
/// driver's channel that the element is made of, and the widest of the other inputs. Empty of an op that contracts
/// nothing.
class LongSums {
 public:
  explicit LongSums(WorkerPool& pool) : pool_(pool) {}
  /// `id`s name inputs whose rms is remembered; empty: none is.
  /// `blocks` of the driver are added in one go each; none: all is.
  std::vector<LongSum> of(const Layer& layer, std::span<const ValueId> ids, const std::vector<Box>& blocks = {});
  /// The largest of these.
  LongSum widest(const Layer& layer, std::span<const ValueId> ids);

 private:
  std::vector<double> rms_of(const Layer& layer, std::size_t input, std::span<const ValueId> ids);

  WorkerPool& pool_;
  std::map<ValueId, std::vector<double>> known_;
};

/// The largest difference of two results, by how much of what is allowed it is.
struct Worst {
  double difference = 0, allowed = 0, ratio = 0;

  void add(double a, double b, double may_differ);
  /// `found` is rounded to `dtype` from a number that may lie `may_differ` off `exact`: what counts is what it lies off
  /// beyond that rounding.
  void add_rounded(double found, double exact, DType dtype, double may_differ);
  void add(const Worst& other) {
    if (other.ratio > ratio) *this = other;
  }
  bool too_far() const { return ratio > 1; }
};

}  // namespace voxshard
