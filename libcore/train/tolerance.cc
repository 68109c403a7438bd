#include "libcore/train/tolerance.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace voxshard {
namespace {

constexpr double kSumFactor = 8;  // times epsilon, length and size of an addend

/// The largest rms of any channel. By Cauchy and Schwarz no sum over positions of products of two channels is, in
/// magnitudes, more than their number times both of these; an rms over all channels would miss the few that most of a
/// gradient is in.
double widest_rms(const TensorView& dense) {
  const std::int64_t channels = dense.rank() > 0 ? dense.extent().back() : 1;
  std::vector<double> squares(static_cast<std::size_t>(channels));
  for (std::int64_t i = 0; i < dense.count(); ++i) {
    const double v = load(dense, i);
    squares[static_cast<std::size_t>(i % channels)] += v * v;
  }
  const double rows =
      static_cast<double>(std::max<std::int64_t>(1, dense.count() / std::max<std::int64_t>(1, channels)));
  return squares.empty() ? 0 : std::sqrt(*std::max_element(squares.begin(), squares.end()) / rows);
}

}  // namespace

double sum_allowance(const CoreSet& uncut, const OpTable& ops, ValueId id, DType arithmetic) {
  const Graph& graph = uncut.executable().program.graph;
  const OpDef& def = ops.at(graph.node(id).op);
  if (def.driver < 0) return 0;
  std::vector<double> sizes;
  for (ValueId input : graph.node(id).inputs) sizes.push_back(widest_rms(uncut.gather(input).view()));
  const Shape driver = graph.input_types(id)[static_cast<std::size_t>(def.driver)].shape;
  const double length = static_cast<double>(element_count(driver) / driver.back());
  const double addend = def.addend != nullptr ? def.addend(sizes) : sizes[static_cast<std::size_t>(def.driver)];
  // Rounding of k-th partial sum s_k is epsilon * s_k. Addends of either sign (gradients, f32): s_k ~ sqrt(k), in all
  // ~ length. Addends of one sign (squares, probabilities; these sums are f64): s_k ~ k, in all ~ length^1.5.
  const double growth = arithmetic == DType::kF64 ? length * std::sqrt(length) : length;
  return kSumFactor * epsilon_of(arithmetic) * growth * addend;
}

void Worst::add(double a, double b, double may_differ) {
  if (a == b) return;
  const double d = std::abs(a - b);
  const double of_allowed = d / may_differ;  // NaN is too far
  const double now = d <= may_differ || of_allowed > 1 ? of_allowed : std::numeric_limits<double>::infinity();
  if (now > ratio) *this = {d, may_differ, now};
}

}  // namespace voxshard
