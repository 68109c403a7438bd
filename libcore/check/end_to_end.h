// What is compared end to end of a training step, and how far two runs of it may lie apart that differ in roundings
// only.
//
//   const Condition condition(once, {moved_one_way, moved_another});
//   EndToEnd check(once, condition, longest_sums(graph, ops), report);
//   check.cut(outcome(cut_cores), reordered, parameters, transport);
#pragma once

#include "libcore/check/unequal.h"
#include "libcore/runtime/core_set.h"

namespace voxshard {

/// The loss, and the gradients of the parameters by name, in f64; weights after one step of SGD follow from these.
struct Outcome {
  double loss = 0;
  std::map<std::string, Tensor> gradients;
};

/// Of a core set that has run.
Outcome outcome(CoreSet& cores);

/// Each parameter moved by what a sum of `products` products is rounded by, a walk of as many roundings of f32; which
/// way, is a hash.
Parameters moved_by_roundings(const Parameters& parameters, double products, std::uint64_t seed);

/// The size of each gradient, and what moving the parameters by the roundings of a sum in f32 changes it by, relative
/// to that: the condition of the case. In bf16, where one rounding of an activation that falls otherwise makes others
/// do so, it may be tenths.
class Condition {
 public:
  /// `moved`: runs with moved parameters; none: only the sizes are known.
  Condition(const Outcome& uncut, const std::vector<Outcome>& moved);
  bool measured() const { return measured_; }

  /// Over all gradients, as a root mean square: by chance a single one, of few elements, may hardly move.
  double typical() const { return typical_; }
  /// The root mean square of a gradient, or that of its layer's weights where it is more: what is by nature zero (a
  /// bias before a norm) has no size of its own.
  double scale(const std::string& name) const { return sizes_.at(name).scale; }
  /// What it changes by.
  double moves(const std::string& name) const { return at_least_typical(sizes_.at(name)); }
  double loss_scale() const { return loss_.scale; }
  double loss_moves() const { return at_least_typical(loss_); }

 private:
  struct Size {
    double scale = 0, moves = 0;
  };
  double at_least_typical(const Size& size) const { return std::max(size.moves, typical_ * size.scale); }

  bool measured_ = false;
  Size loss_;
  double typical_ = 0;
  std::map<std::string, Size> sizes_;
};

/// The longest sums of a graph: products of an element of a convolution, voxels of a contraction.
struct LongestSums {
  double products = 1, voxels = 1;
};
LongestSums longest_sums(const Graph& graph, const OpTable& ops);

struct EquivalenceReport;

/// Compares with one run of the uncut network. What it finds goes into the report when the cut one is compared.
class EndToEnd {
 public:
  EndToEnd(const Outcome& uncut, const Condition& condition, const LongestSums& longest, EquivalenceReport& report)
      : uncut_(uncut), condition_(condition), longest_(longest), report_(report) {}

  /// A cut run, of this rank; then the report has what all ranks found. Cutting adds long sums in another order. Those
  /// in f64 (norms, losses) then differ by parts of 2^-53, which reach what is stored in f32 about once in 1e7; those
  /// in f32 are gradients, off by 8 epsilon sqrt(length) of their size. Where also products were `reordered` the f32
  /// roundings of every layer differ, and the condition says what that comes to.
  void cut(const Outcome& cut, bool reordered, const Parameters& parameters, Transport& transport);

 private:
  void compare(const std::string& name, const Tensor& gradient, const Tensor& cut, const Tensor& parameter);
  double allowance(double scale, double moves) const;
  void check(const std::string& layer, const char* what, double difference, double allowed, double relative = 0);
  void add(const std::string& layer, const char* what, double difference, double allowed, double relative = 0);

  const Outcome& uncut_;
  const Condition& condition_;
  LongestSums longest_;
  EquivalenceReport& report_;
  std::vector<Unequal> unequal_;  // of this rank
  std::int64_t place_ = 0;
  bool reordered_ = false;
};

}  // namespace voxshard
