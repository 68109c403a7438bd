// Segmentation losses, 64 voxels at a time with classes outermost, so that every loop runs over voxels; logits f32 or
// bf16, labels i32, neither smoothed nor weighted. Anything else goes to the reference.
//
// Local sums keep one f64 accumulator per class and position in the group of 64. sum log(normaliser) is the log of
// products of 64 normalisers, each between 1 and C. In a sample with classes that are not known these are merged into
// the background before the softmax, and their gradients are shares of the background's after it.
#include "libcore/kernels/loss.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "libcore/kernels/fast/exponential.h"
#include "libcore/kernels/fast/runs.h"
#include "libcore/kernels/loss_terms.h"

namespace voxshard::fast {
namespace {

constexpr std::int64_t kVoxels = 64;

/// The classes of a sample that are not known there, in order.
std::vector<std::int64_t> not_known(std::span<const std::int64_t> as) {
  std::vector<std::int64_t> classes;
  for (std::int64_t c = 1; c < std::ssize(as); ++c)
    if (as[c] != c) classes.push_back(c);
  return classes;
}

/// Softmax of up to 64 voxels: p[class][voxel], and per voxel the largest logit and the normaliser.
struct Softmax {
  explicit Softmax(std::int64_t classes) : p(static_cast<std::size_t>(classes * kVoxels), 0.0F), classes_(classes) {}

  std::vector<float> p, part;  // part: log of the share of a class in the background, [background, merged ...][voxel]
  float top[kVoxels] = {}, total[kVoxels] = {};

  template <class X>
  void read(const X* logits, std::int64_t stride, std::int64_t count) {
    for (std::int64_t v = 0; v < count; ++v)
      for (std::int64_t c = 0; c < classes_; ++c) p[c * kVoxels + v] = to_f32(logits[v * stride + c]);
  }

  /// Replaces the logit of the background by log(sum of e^logit) over it and `classes`, whose own become the least.
  void merge(std::span<const std::int64_t> classes) {
    if (classes.empty()) return;
    float* __restrict whole = p.data();
    part.assign(whole, whole + kVoxels);
    for (const std::int64_t c : classes) {
      float* __restrict row = p.data() + c * kVoxels;
      part.insert(part.end(), row, row + kVoxels);
      for (std::int64_t v = 0; v < kVoxels; ++v) {
        const float over = row[v] - whole[v];  // a NaN stays one
        whole[v] = (over > 0 ? row[v] : whole[v]) + log1p_unit(exp_negative(over > 0 ? -over : over));
        row[v] = std::numeric_limits<float>::lowest();
      }
    }
    for (std::size_t at = 0; at < part.size(); ++at) part[at] -= p[at % kVoxels];
  }

  /// Gives each of the merged classes, and the background, its share of the gradient of the background.
  void share(std::span<const std::int64_t> classes, std::vector<float>& grad) const {
    if (classes.empty()) return;
    for (std::size_t k = classes.size() + 1; k-- > 0;) {  // the background last, since the others read it
      float* __restrict to = grad.data() + (k == 0 ? 0 : classes[k - 1] * kVoxels);
      const float* of = part.data() + static_cast<std::int64_t>(k) * kVoxels;
      for (std::int64_t v = 0; v < kVoxels; ++v) to[v] = grad[v] * exp_negative(of[v]);
    }
  }

  /// Turns the logits into probabilities; those of the merged `classes` are 0.
  void normalise(std::span<const std::int64_t> classes) {
    float* row = p.data();
    std::copy(row, row + kVoxels, top);
    std::fill(total, total + kVoxels, 0.0F);
    for (std::int64_t c = 1; c < classes_; ++c)
      for (std::int64_t v = 0; v < kVoxels; ++v) top[v] = std::max(top[v], row[c * kVoxels + v]);
    for (std::int64_t c = 0; c < classes_; ++c)
      for (std::int64_t v = 0; v < kVoxels; ++v) {
        row[c * kVoxels + v] = exp_negative(row[c * kVoxels + v] - top[v]);
        total[v] += row[c * kVoxels + v];
      }
    for (std::int64_t c = 0; c < classes_; ++c)
      for (std::int64_t v = 0; v < kVoxels; ++v) row[c * kVoxels + v] /= total[v];
    for (const std::int64_t c : classes) std::fill_n(row + c * kVoxels, kVoxels, 0.0F);
  }

 private:
  std::int64_t classes_;
};

/// Calls body(at, count) for pieces of at most 64 voxels along W; `at` has channel coordinate 0 of the box.
template <class Body>
void for_each_piece(const Box& box, Body body) {
  if (box.empty()) return;
  Box rows = box;  // one voxel per row of W
  rows.set(3, box.begin[3], box.begin[3] + 1);
  for_each_row(rows, [&](Dims at) {
    for (; at[3] < box.end(3); at[3] += kVoxels)
      body(static_cast<const Dims&>(at), std::min(kVoxels, box.end(3) - at[3]));
  });
}

/// Reads the labels of a piece, as what they are scored; -1 where ignored and past its end.
void read_labels(const TensorView& labels, Dims at, std::int64_t count, std::span<const std::int64_t> as,
                 std::int32_t* out) {
  at[4] = labels.box.begin[4];
  const std::int32_t* from = labels.as<std::int32_t>() + offset_at(labels, at);
  for (std::int64_t v = 0; v < kVoxels; ++v) {
    const std::int32_t label = v < count ? from[v * labels.strides[3]] : -1;
    out[v] = label >= 0 && label < std::ssize(as) ? static_cast<std::int32_t>(as[label]) : -1;
  }
}

/// Accumulators of one group.
struct Sums {
  explicit Sums(std::int64_t classes)
      : inter(static_cast<std::size_t>(classes * kVoxels), 0.0),
        prob(inter.size(), 0.0),
        truth(inter.size(), 0.0),
        known(static_cast<std::size_t>(classes), 0.0) {}

  std::vector<double> inter, prob, truth, known;
  double cross_entropy = 0, count = 0;

  void add(const Softmax& s, const std::int32_t* labels, std::int64_t classes) {
    for (std::int64_t c = 0; c < classes; ++c) {
      const auto class_id = static_cast<std::int32_t>(c);
      const float* __restrict p = s.p.data() + c * kVoxels;
      double* __restrict i = inter.data() + c * kVoxels;
      double* __restrict q = prob.data() + c * kVoxels;
      double* __restrict t = truth.data() + c * kVoxels;
      for (std::int64_t v = 0; v < kVoxels; ++v) {
        const float value = p[v];
        const std::int32_t label = labels[v];
        q[v] += static_cast<double>(label >= 0 ? value : 0.0F);
        i[v] += static_cast<double>(label == class_id ? value : 0.0F);
        t[v] += static_cast<double>(label == class_id ? 1.0F : 0.0F);
      }
    }
  }

  /// Counts the voxels of a sample for each class that is known in it.
  void add_known(std::span<const std::int64_t> as, std::int64_t voxels) {
    for (std::size_t c = 0; c < known.size(); ++c)
      known[c] += as[c] == static_cast<std::int64_t>(c) ? static_cast<double>(voxels) : 0.0;
  }

  void write(const TensorView& sums, std::int64_t g, const LossSpec& spec) const {
    const std::int64_t classes = spec.classes;
    const std::int64_t at = (g - sums.box.begin[0]) * sums.strides[0];
    for (std::int64_t c = 0; c < classes; ++c) {
      double total[3] = {0, 0, 0};
      for (auto v = static_cast<std::size_t>(c * kVoxels); v < static_cast<std::size_t>((c + 1) * kVoxels); ++v) {
        total[0] += inter[v];
        total[1] += prob[v];
        total[2] += truth[v];
      }
      for (int k = 0; k < 3; ++k) store(sums, at + k * classes + c, total[k]);
    }
    store(sums, at + 3 * classes, cross_entropy);
    store(sums, at + 3 * classes + 1, count);
    for (std::int64_t c = 0; c < classes && spec.known != nullptr; ++c)
      store(sums, at + sums_per_group(classes) + c, known[c]);
  }
};

/// sum over the valid voxels of log(normaliser) - (logit - top), given the logits of the labels.
double piece_cross_entropy(const Softmax& s, const std::int32_t* labels, const float* label_logits, double& count) {
  double product = 1, sum = 0;
  for (std::int64_t v = 0; v < kVoxels; ++v) {
    if (labels[v] < 0) continue;
    product *= static_cast<double>(s.total[v]);
    sum += static_cast<double>(s.top[v] - label_logits[v]);
    count += 1;
    if (product > 1e200) {
      sum += std::log(product);
      product = 1;
    }
  }
  return sum + std::log(product);
}

template <class Y>
void write_piece(const std::vector<float>& grad, Y* to, std::int64_t stride, std::int64_t count, std::int64_t classes) {
  for (std::int64_t v = 0; v < count; ++v)
    for (std::int64_t c = 0; c < classes; ++c) round_to(grad[c * kVoxels + v], to[v * stride + c]);
}

void segmentation_sums(const TensorView& logits, const TensorView& labels, const TensorView& sums,
                       const LossSpec& spec) {
  if (!is_fast(logits) || labels.dtype != DType::kI32 || !spec.is_plain())
    return reference::segmentation.sums(logits, labels, sums, spec);
  Softmax softmax(spec.classes);
  std::int32_t label[kVoxels];
  float label_logit[kVoxels] = {};
  for (std::int64_t g = sums.box.begin[0]; g < sums.box.end(0); ++g) {
    Sums total(spec.classes);
    for (std::int64_t n = logits.box.begin[0]; n < logits.box.end(0); ++n) {
      if (spec.group_of(n) != g) continue;
      const Box sample = sample_of(logits.box, n);
      const std::vector<std::int64_t> as = scored_as(spec, n), unknown = not_known(as);
      total.add_known(as, sample.count() / spec.classes);
      for_each_piece(sample, [&](const Dims& at, std::int64_t count) {
        read_labels(labels, at, count, as, label);
        with_type(logits.dtype,
                  [&]<class X>(X*) { softmax.read(logits.as<X>() + offset_at(logits, at), logits.strides[3], count); });
        softmax.merge(unknown);
        for (std::int64_t v = 0; v < kVoxels; ++v)
          if (label[v] >= 0) label_logit[v] = softmax.p[label[v] * kVoxels + v];
        softmax.normalise(unknown);
        total.add(softmax, label, spec.classes);
        total.cross_entropy += piece_cross_entropy(softmax, label, label_logit, total.count);
      });
    }
    total.write(sums, g, spec);
  }
}

void segmentation_grad(const TensorView& logits, const TensorView& labels, const TensorView& sums,
                       const TensorView& d_logits, const LossSpec& spec) {
  if (!is_fast(logits) || !is_fast(d_logits) || labels.dtype != DType::kI32 || !spec.is_plain())
    return reference::segmentation.grad(logits, labels, sums, d_logits, spec);
  Softmax softmax(spec.classes);
  std::vector<float> grad(softmax.p.size());
  std::int32_t label[kVoxels];
  for (std::int64_t n = d_logits.box.begin[0]; n < d_logits.box.end(0); ++n) {
    const LossTerms terms = loss_terms(group_sums(sums, spec.group_of(n)), spec);
    const std::vector<std::int64_t> as = scored_as(spec, n), unknown = not_known(as);
    const double share = spec.d_loss / static_cast<double>(spec.groups);
    const auto d_ce = static_cast<float>(terms.d_cross_entropy * share);
    for_each_piece(sample_of(d_logits.box, n), [&](const Dims& at, std::int64_t count) {
      read_labels(labels, at, count, as, label);
      with_type(logits.dtype,
                [&]<class X>(X*) { softmax.read(logits.as<X>() + offset_at(logits, at), logits.strides[3], count); });
      softmax.merge(unknown);
      softmax.normalise(unknown);
      float mean[kVoxels] = {};
      for (std::int64_t c = 0; c < spec.classes; ++c) {
        const auto hit = static_cast<float>(terms.d_intersection[c] * share);
        const auto any = static_cast<float>(terms.d_probability[c] * share);
        const auto class_id = static_cast<std::int32_t>(c);
        const float* __restrict p = softmax.p.data() + c * kVoxels;
        float* __restrict g = grad.data() + c * kVoxels;
        for (std::int64_t v = 0; v < kVoxels; ++v) {
          g[v] = (label[v] == class_id ? hit : 0.0F) + any;
          mean[v] += p[v] * g[v];
        }
      }
      for (std::int64_t c = 0; c < spec.classes; ++c) {
        const auto class_id = static_cast<std::int32_t>(c);
        const float* __restrict p = softmax.p.data() + c * kVoxels;
        float* __restrict g = grad.data() + c * kVoxels;
        for (std::int64_t v = 0; v < kVoxels; ++v) {
          const float value = p[v] * (g[v] - mean[v]) + d_ce * (p[v] - (label[v] == class_id ? 1.0F : 0.0F));
          g[v] = label[v] < 0 ? 0.0F : value;
        }
      }
      softmax.share(unknown, grad);
      with_type(d_logits.dtype, [&]<class Y>(Y*) {
        write_piece(grad, d_logits.as<Y>() + offset_at(d_logits, at), d_logits.strides[3], count, spec.classes);
      });
    });
  }
}

}  // namespace

const SegmentationKernels segmentation = {
    .sums = segmentation_sums, .loss = reference::segmentation.loss, .grad = segmentation_grad};

}  // namespace voxshard::fast
