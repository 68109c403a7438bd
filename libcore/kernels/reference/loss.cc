// Segmentation losses in double, voxel by voxel: softmax, local sums, and the gradient through loss_terms.h.
//
// The softmax subtracts the largest logit, so it is finite for any finite logits. Classes that are not known in a
// sample are first merged into the logit of the background.
#include "libcore/kernels/loss.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <vector>

#include "libcore/kernels/loss_terms.h"
#include "libcore/tensor/rows.h"

namespace voxshard::reference {
namespace {

using Row = std::vector<double>;

using ScoredAs = std::vector<std::int64_t>;

/// The label at voxel `at`, as what it is scored, or -1 when the voxel is ignored.
std::int64_t label_at(const TensorView& labels, Dims at, const ScoredAs& as) {
  at[at.axes() - 1] = labels.box.begin.back();
  const auto label = static_cast<std::int64_t>(load(labels, offset_at(labels, at)));
  return label >= 0 && label < std::ssize(as) ? as[label] : -1;
}

/// The logits of the classes that are scored, of which softmax makes the sums of the probabilities: the logarithm of
/// the sum of the exponentials of what is scored as a class; -infinity where that is nothing.
///   example: logits {1, 3, 2} scored as {0, 1, 0} -> {2.3133, 3, -infinity}
Row merged(const Row& logit, const ScoredAs& as) {
  constexpr double kNothing = -std::numeric_limits<double>::infinity();
  Row top(logit.size(), kNothing), total(logit.size(), 0.0);
  for (std::size_t c = 0; c < logit.size(); ++c) {
    double& most = top[as[c]];
    most = std::max(most, logit[c]);
  }
  for (std::size_t c = 0; c < logit.size(); ++c) total[as[c]] += std::exp(logit[c] - top[as[c]]);
  for (std::size_t c = 0; c < logit.size(); ++c) top[c] = total[c] == 0 ? kNothing : top[c] + std::log(total[c]);
  return top;
}

/// Converts logits to probabilities in place; returns log(sum exp(logits)).
double softmax(Row& p) {
  const double top = *std::max_element(p.begin(), p.end());
  double total = 0;
  for (double& v : p) total += v = std::exp(v - top);
  for (double& v : p) v /= total;
  return top + std::log(total);
}

/// -log p_label, with label smoothing and class weights.
double cross_entropy(const Row& logit, double normaliser, std::size_t label, const LossSpec& spec) {
  double value = (1 - spec.smoothing) * spec.weight_of(label) * (normaliser - logit[label]);
  if (spec.smoothing > 0)
    for (std::size_t c = 0; c < logit.size(); ++c)
      value += spec.smoothing / static_cast<double>(logit.size()) * spec.weight_of(c) * (normaliser - logit[c]);
  return value;
}

/// The weighted target of each class in cross_entropy: its derivative by logit c is p_c times the targets' sum, minus
/// that of c.
Row wanted(std::int64_t label, const LossSpec& spec) {
  Row share(static_cast<std::size_t>(spec.classes), 0.0);
  if (label < 0) return share;
  const auto l = static_cast<std::size_t>(label);
  share[l] = (1 - spec.smoothing) * spec.weight_of(l);
  for (std::size_t c = 0; c < share.size(); ++c)
    share[c] += spec.smoothing / static_cast<double>(share.size()) * spec.weight_of(c);
  return share;
}

void segmentation_sums(const TensorView& logits, const TensorView& labels, const TensorView& sums,
                       const LossSpec& spec) {
  const auto classes = static_cast<std::size_t>(spec.classes);
  Row p(classes);
  for (std::int64_t g = sums.box.begin[0]; g < sums.box.end(0); ++g) {
    Row sum(static_cast<std::size_t>(sums_per_group(spec.classes, spec.known != nullptr)), 0.0);
    std::int64_t sample = -1;
    ScoredAs as;  // in that sample
    for_each_row(logits.box, [&](const Dims& at) {
      if (spec.group_of(at[0]) != g) return;
      if (at[0] != sample) as = scored_as(spec, sample = at[0]);
      for (std::size_t c = 0; c < classes && spec.known != nullptr; ++c)
        sum[3 * classes + 2 + c] += as[c] == static_cast<std::int64_t>(c) ? 1 : 0;
      const std::int64_t label = label_at(labels, at, as);
      if (label < 0) return;
      const auto l = static_cast<std::size_t>(label);
      load_row(logits, offset_at(logits, at), spec.classes, p.data());
      const Row logit = p = merged(p, as);
      const double normaliser = softmax(p);
      for (std::size_t c = 0; c < classes; ++c) sum[classes + c] += p[c];
      sum[l] += p[l];
      sum[2 * classes + l] += 1;
      sum[3 * classes] += cross_entropy(logit, normaliser, l, spec);
      sum[3 * classes + 1] += spec.weight_of(l);
    });
    store_row(sums, (g - sums.box.begin[0]) * sums.strides[0], static_cast<std::int64_t>(sum.size()), sum.data());
  }
}

void segmentation_loss(const TensorView& sums, const TensorView& loss, const LossSpec& spec) {
  double total = 0;
  for (std::int64_t g = sums.box.begin[0]; g < sums.box.end(0); ++g)
    total += loss_terms(group_sums(sums, g), spec).value;
  store(loss, 0, total / static_cast<double>(spec.groups));
}

void segmentation_grad(const TensorView& logits, const TensorView& labels, const TensorView& sums,
                       const TensorView& d_logits, const LossSpec& spec) {
  const auto classes = static_cast<std::size_t>(spec.classes);
  Row logit(classes), p(classes), grad(classes);
  for (std::int64_t n = d_logits.box.begin[0]; n < d_logits.box.end(0); ++n) {
    const LossTerms t = loss_terms(group_sums(sums, spec.group_of(n)), spec);
    const ScoredAs as = scored_as(spec, n);
    for_each_row(sample_of(d_logits.box, n), [&](const Dims& at) {
      const std::int64_t label = label_at(labels, at, as);
      load_row(logits, offset_at(logits, at), spec.classes, logit.data());
      const Row scored = p = merged(logit, as);
      softmax(p);
      double mean = 0;
      for (std::size_t c = 0; c < classes; ++c) {
        const bool hit = static_cast<std::int64_t>(c) == label;
        grad[c] = (hit ? t.d_intersection[c] : 0.0) + t.d_probability[c];
        mean += p[c] * grad[c];
      }
      const Row share = wanted(label, spec);
      const double all = std::accumulate(share.begin(), share.end(), 0.0);
      for (std::size_t c = 0; c < classes; ++c) {
        grad[c] = p[c] * (grad[c] - mean) + t.d_cross_entropy * (p[c] * all - share[c]);
        grad[c] = label < 0 ? 0.0 : grad[c] * spec.d_loss / static_cast<double>(spec.groups);
      }
      const Row of_scored = grad;  // d scored_k / d logit_c is the share of c in what is scored as k
      for (std::size_t c = 0; c < classes; ++c) {
        const auto k = static_cast<std::size_t>(as[c]);
        grad[c] = of_scored[k] * std::exp(logit[c] - scored[k]);
      }
      store_row(d_logits, offset_at(d_logits, at), spec.classes, grad.data());
    });
  }
}

}  // namespace

constinit const SegmentationKernels segmentation = {
    .sums = segmentation_sums, .loss = segmentation_loss, .grad = segmentation_grad};

}  // namespace voxshard::reference
