// The end-to-end comparison of a training step, and the largest allowed difference of two runs that differ only in
// roundings.
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

/// Returns the outcome of a core set that has run.
Outcome outcome(CoreSet& cores);

/// Returns the parameters, each moved by the rounding of a sum of `products` products in f32 (a random walk of that
/// many roundings), up or down by a hash.
Parameters moved_by_roundings(const Parameters& parameters, double products, std::uint64_t seed);

/// The size of each gradient, and its change when the parameters move by the roundings of a sum in f32: relative to the
/// size, this is the condition of the case. It may reach tenths in bf16, where one activation that rounds differently
/// makes others do so.
class Condition {
 public:
  /// `moved`: runs with moved parameters; if empty, only the sizes are known.
  Condition(const Outcome& uncut, const std::vector<Outcome>& moved);
  bool measured() const { return measured_; }

  /// The root mean square over all gradients, since a single one with few elements may hardly move by chance.
  double typical() const { return typical_; }
  /// The root mean square of a gradient, or that of its layer's weights if larger: a gradient that is zero by
  /// construction (a bias before a norm) has no size of its own.
  double scale(const std::string& name) const { return sizes_.at(name).scale; }
  /// The change of a gradient when the parameters move, at least the typical one.
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

/// The longest sums of a graph: products per element of a convolution, voxels of a contraction.
struct LongestSums {
  double products = 1, voxels = 1;
};
LongestSums longest_sums(const Graph& graph, const OpTable& ops);

struct EquivalenceReport;

/// Compares a cut run with one run of the uncut network and writes the differences into the report.
class EndToEnd {
 public:
  EndToEnd(const Outcome& uncut, const Condition& condition, const LongestSums& longest, EquivalenceReport& report)
      : uncut_(uncut), condition_(condition), longest_(longest), report_(report) {}

  /// Compares this rank's cut run; the report then holds the differences of all ranks. A cut adds long sums in another
  /// order. Sums in f64 (norms, losses) then differ by multiples of 2^-53, which change a value stored in f32 about
  /// once in 1e7; sums in f32 are gradients, off by 8 epsilon sqrt(length) of their size. If products were `reordered`
  /// too, the f32 roundings of every layer differ, and the condition gives the size of the effect.
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
