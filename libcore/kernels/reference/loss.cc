// Segmentation losses in double, voxel by voxel: softmax, local sums, and the gradient through loss_terms.h.
//
// The softmax subtracts the largest logit, so it is finite for any finite logits.
#include "libcore/kernels/loss.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <vector>

#include "libcore/kernels/loss_terms.h"
#include "libcore/tensor/rows.h"

namespace voxshard::reference {
namespace {

using Row = std::vector<double>;

/// The label at voxel `at`, or -1 when the voxel is ignored.
std::int64_t label_at(const TensorView& labels, Dims at, const LossSpec& spec) {
  at[at.axes() - 1] = labels.box.begin.back();
  const auto label = static_cast<std::int64_t>(load(labels, offset_at(labels, at)));
  return label >= 0 && label < spec.classes ? label : -1;
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
    Row sum(static_cast<std::size_t>(sums_per_group(spec.classes)), 0.0);
    for_each_row(logits.box, [&](const Dims& at) {
      const std::int64_t label = label_at(labels, at, spec);
      if (spec.group_of(at[0]) != g || label < 0) return;
      const auto l = static_cast<std::size_t>(label);
      load_row(logits, offset_at(logits, at), spec.classes, p.data());
      const Row logit = p;
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
    total += loss_terms(group_sums(sums, g).data(), spec).value;
  store(loss, 0, total / static_cast<double>(spec.groups));
}

void segmentation_grad(const TensorView& logits, const TensorView& labels, const TensorView& sums,
                       const TensorView& d_logits, const LossSpec& spec) {
  const auto classes = static_cast<std::size_t>(spec.classes);
  Row p(classes), grad(classes);
  for (std::int64_t n = d_logits.box.begin[0]; n < d_logits.box.end(0); ++n) {
    const LossTerms t = loss_terms(group_sums(sums, spec.group_of(n)).data(), spec);
    for_each_row(sample_of(d_logits.box, n), [&](const Dims& at) {
      const std::int64_t label = label_at(labels, at, spec);
      load_row(logits, offset_at(logits, at), spec.classes, p.data());
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
      store_row(d_logits, offset_at(d_logits, at), spec.classes, grad.data());
    });
  }
}

}  // namespace

constinit const SegmentationKernels segmentation = {
    .sums = segmentation_sums, .loss = segmentation_loss, .grad = segmentation_grad};

}  // namespace voxshard::reference
