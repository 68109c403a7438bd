// Focal, Huber and GIoU loss, 64 numbers at a time; f32 or bf16 in, computed in f32, summed in f64 with one accumulator
// per lane. The formulas are those of the reference, which handles all other types.
//
// Every logit of a position gets a signed weight: -(1 - alpha) for a class other than the anchor's, alpha for the
// anchor's class, 0 where the anchor is ignored; so z is the logit with the sign of its weight, and the loops have no
// branch.
//
// GIoU is computed in double for the few anchors that have an object; the others only have their targets read.
#include "libcore/kernels/detection_loss.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "libcore/kernels/fast/exponential.h"
#include "libcore/kernels/fast/runs.h"
#include "libcore/kernels/giou.h"

namespace voxshard::fast {
namespace {

constexpr std::int64_t kLanes = 64;

std::size_t padded(std::int64_t count) { return static_cast<std::size_t>(ceil_div(count, kLanes) * kLanes); }

/// A position's numbers, padded with zeros to whole groups of lanes.
using Row = std::vector<float>;

template <class X>
void read(const X* from, std::int64_t count, Row& row) {
  for (std::int64_t i = 0; i < count; ++i) row[i] = to_f32(from[i]);
}

const std::int32_t* targets_at(const TensorView& targets, Dims at) {
  at[at.axes() - 1] = targets.box.begin.back();
  return targets.as<std::int32_t>() + offset_at(targets, at);
}

/// Computes the signed weight of each logit of a position; returns the number of anchors with a class.
std::int64_t weigh(const std::int32_t* targets, std::int64_t anchors, const DetectionLossSpec& spec, Row& weights) {
  std::int64_t positives = 0;
  for (std::int64_t a = 0; a < anchors; ++a) {
    float* anchor = weights.data() + a * spec.classes;
    const std::int32_t target = targets[a];
    std::fill(anchor, anchor + spec.classes, spec.is_ignored(target) ? 0.0F : -static_cast<float>(1 - spec.alpha));
    if (!spec.is_class(target)) continue;
    anchor[target] = static_cast<float>(spec.alpha);
    ++positives;
  }
  return positives;
}

/// The terms of the focal loss of a logit, see the reference.
struct Focal {
  float q, p;   // 1 - p and p
  float s;      // -log p
  float power;  // q^gamma

  Focal(float z, float gamma) {
    const float e = exp_negative(-std::abs(z)), l = log1p_unit(e), total = 1.0F + e;
    q = (z >= 0 ? e : 1.0F) / total;
    p = (z >= 0 ? 1.0F : e) / total;
    s = l + (z < 0 ? -z : 0.0F);
    power = exp_negative(-gamma * (l + (z < 0 ? 0.0F : z)));
  }
};

void add_focal(const Row& logits, const Row& weights, float gamma, double* __restrict total) {
  for (std::size_t from = 0; from < logits.size(); from += kLanes) {
    const float* __restrict x = logits.data() + from;
    const float* __restrict w = weights.data() + from;
    for (std::int64_t i = 0; i < kLanes; ++i) {
      const Focal f(w[i] < 0 ? -x[i] : x[i], gamma);
      total[i] += static_cast<double>(std::abs(w[i]) * f.power * f.s);
    }
  }
}

void focal_derivatives(const Row& logits, const Row& weights, float gamma, float share, Row& grad) {
  for (std::size_t from = 0; from < logits.size(); from += kLanes) {
    const float* __restrict x = logits.data() + from;
    const float* __restrict w = weights.data() + from;
    float* __restrict g = grad.data() + from;
    for (std::int64_t i = 0; i < kLanes; ++i) {
      const Focal f(w[i] < 0 ? -x[i] : x[i], gamma);
      g[i] = -share * w[i] * f.power * (gamma * f.p * f.s + f.q);
    }
  }
}

void add_huber(const Row& boxes, const Row& targets, float delta, double* __restrict total) {
  for (std::size_t from = 0; from < boxes.size(); from += kLanes) {
    const float* __restrict b = boxes.data() + from;
    const float* __restrict t = targets.data() + from;
    for (std::int64_t i = 0; i < kLanes; ++i) {
      const float error = b[i] - t[i], size = std::abs(error);
      const float square = 0.5F * error * error, line = delta * size - 0.5F * delta * delta;
      const float value = size > delta ? line : square;  // NaN takes the square, which is NaN
      total[i] += static_cast<double>(t[i] != 0 ? value : 0.0F);
    }
  }
}

/// Calls body(first, terms) for the anchors of a position that have an object, with the number of their first code.
template <class Body>
void for_each_giou(const Row& boxes, const Row& targets, Body body) {
  for (std::size_t i = 0; i + 4 <= targets.size(); i += 4) {
    const float* t = targets.data() + i;
    if (t[0] == 0 && t[1] == 0 && t[2] == 0 && t[3] == 0) continue;
    const float* b = boxes.data() + i;
    body(i, giou_terms({b[0], b[1], b[2], b[3]}, {t[0], t[1], t[2], t[3]}));
  }
}

double sum_of(const double* lanes) {
  double total = 0;
  for (std::int64_t i = 0; i < kLanes; ++i) total += lanes[i];
  return total;
}

float share_of(const TensorView& sums, std::int64_t n, const DetectionLossSpec& spec) {
  const std::int64_t row = (spec.group_of(n) - sums.box.begin[0]) * sums.strides[0];
  return static_cast<float>(spec.d_loss / ((load(sums, row + 2) + 1) * static_cast<double>(spec.groups)));
}

void read_at(const TensorView& view, Dims at, Row& row) {
  at[at.axes() - 1] = view.box.begin.back();
  with_type(view.dtype, [&]<class X>(X*) { read(view.as<X>() + offset_at(view, at), view.extent().back(), row); });
}

void write_at(const Row& row, const TensorView& view, const Dims& at) {
  with_type(view.dtype, [&]<class Y>(Y*) {
    Y* to = view.as<Y>() + offset_at(view, at);
    for (std::int64_t i = 0; i < view.extent().back(); ++i) round_to(row[i], to[i]);
  });
}

void detection_sums(const TensorView& logits, const TensorView& class_targets, const TensorView& boxes,
                    const TensorView& box_targets, const TensorView& sums, const DetectionLossSpec& spec) {
  if (!is_fast(logits) || !is_fast(boxes) || !is_fast(box_targets) || class_targets.dtype != DType::kI32)
    return reference::detection.sums(logits, class_targets, boxes, box_targets, sums, spec);
  const std::int64_t anchors = class_targets.extent().back();
  Row x(padded(logits.extent().back()), 0.0F), weights(x.size(), 0.0F);
  Row box(padded(boxes.extent().back()), 0.0F), wanted(box.size(), 0.0F);
  for (std::int64_t g = sums.box.begin[0]; g < sums.box.end(0); ++g) {
    double focal[kLanes] = {}, box_loss[kLanes] = {};
    std::int64_t positives = 0;
    for_each_row(logits.box, [&](const Dims& at) {
      if (spec.group_of(at[0]) != g) return;
      read_at(logits, at, x);
      positives += weigh(targets_at(class_targets, at), anchors, spec, weights);
      add_focal(x, weights, static_cast<float>(spec.gamma), focal);
      read_at(boxes, at, box);
      read_at(box_targets, at, wanted);
      if (spec.box_loss == BoxLossKind::kHuber)
        add_huber(box, wanted, static_cast<float>(spec.delta), box_loss);
      else
        for_each_giou(box, wanted, [&](std::size_t, const GiouTerms& terms) { box_loss[0] += terms.loss; });
    });
    const double total[3] = {sum_of(focal), sum_of(box_loss), static_cast<double>(positives)};
    store_row(sums, (g - sums.box.begin[0]) * sums.strides[0], 3, total);
  }
}

void focal_grad(const TensorView& logits, const TensorView& class_targets, const TensorView& sums,
                const TensorView& d_logits, const DetectionLossSpec& spec) {
  if (!is_fast(logits) || !is_fast(d_logits) || class_targets.dtype != DType::kI32)
    return reference::detection.focal_grad(logits, class_targets, sums, d_logits, spec);
  const std::int64_t anchors = class_targets.extent().back();
  Row x(padded(logits.extent().back()), 0.0F), weights(x.size(), 0.0F), grad(x.size(), 0.0F);
  for_each_row(d_logits.box, [&](const Dims& at) {
    read_at(logits, at, x);
    weigh(targets_at(class_targets, at), anchors, spec, weights);
    focal_derivatives(x, weights, static_cast<float>(spec.gamma), share_of(sums, at[0], spec), grad);
    write_at(grad, d_logits, at);
  });
}

void huber_grad(const TensorView& boxes, const TensorView& box_targets, const TensorView& sums,
                const TensorView& d_boxes, const DetectionLossSpec& spec) {
  if (!is_fast(boxes) || !is_fast(box_targets) || !is_fast(d_boxes))
    return reference::detection.huber_grad(boxes, box_targets, sums, d_boxes, spec);
  const auto delta = static_cast<float>(spec.delta);
  Row box(padded(boxes.extent().back()), 0.0F), wanted(box.size(), 0.0F), grad(box.size(), 0.0F);
  for_each_row(d_boxes.box, [&](const Dims& at) {
    read_at(boxes, at, box);
    read_at(box_targets, at, wanted);
    const float share = static_cast<float>(spec.box_share()) * share_of(sums, at[0], spec);
    for (std::size_t i = 0; i < box.size(); ++i) {
      const float error = box[i] - wanted[i];
      const float bounded = error > delta ? delta : error < -delta ? -delta : error;
      grad[i] = wanted[i] != 0 ? share * bounded : 0.0F;
    }
    write_at(grad, d_boxes, at);
  });
}

void giou_grad(const TensorView& boxes, const TensorView& box_targets, const TensorView& sums,
               const TensorView& d_boxes, const DetectionLossSpec& spec) {
  if (!is_fast(boxes) || !is_fast(box_targets) || !is_fast(d_boxes))
    return reference::detection.giou_grad(boxes, box_targets, sums, d_boxes, spec);
  Row box(padded(boxes.extent().back()), 0.0F), wanted(box.size(), 0.0F), grad(box.size(), 0.0F);
  for_each_row(d_boxes.box, [&](const Dims& at) {
    read_at(boxes, at, box);
    read_at(box_targets, at, wanted);
    std::ranges::fill(grad, 0.0F);
    const double share = spec.box_share() * static_cast<double>(share_of(sums, at[0], spec));
    for_each_giou(box, wanted, [&](std::size_t first, const GiouTerms& terms) {
      for (std::size_t k = 0; k < 4; ++k) grad[first + k] = static_cast<float>(share * terms.d_code[k]);
    });
    write_at(grad, d_boxes, at);
  });
}

}  // namespace

const DetectionKernels detection = {.sums = detection_sums,
                                    .loss = reference::detection.loss,
                                    .focal_grad = focal_grad,
                                    .huber_grad = huber_grad,
                                    .giou_grad = giou_grad};

}  // namespace voxshard::fast
