// Focal, Huber and GIoU loss in double, anchor by anchor.
//
// With z = x for the class of an anchor and -x for every other one, the focal loss is a q^gamma s, s = log(1 + e^-z) =
// -log p and q = 1 - p = 1 / (1 + e^z); d/dz = -a q^gamma (gamma (1 - q) s + q). q^gamma is exp(-gamma log(1 + e^z)),
// so nothing overflows for any finite logit.
#include "libcore/kernels/detection_loss.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <vector>

#include "libcore/kernels/giou.h"
#include "libcore/tensor/rows.h"

namespace voxshard::reference {
namespace {

using Row = std::vector<double>;

/// log(1 + e^x).
double softplus(double x) { return std::max(x, 0.0) + std::log1p(std::exp(-std::abs(x))); }

double focal(double z, double weight, double gamma) { return weight * std::exp(-gamma * softplus(z)) * softplus(-z); }

double focal_derivative(double z, double weight, double gamma) {
  const double q = std::exp(-softplus(z)), p = std::exp(-softplus(-z));
  return -weight * std::exp(-gamma * softplus(z)) * (gamma * p * softplus(-z) + q);
}

double huber(double error, double delta) {
  const double size = std::abs(error);
  return size <= delta ? error * error / 2 : delta * size - delta * delta / 2;
}

/// Calls body(channel, target, hit) for each logit of a position that is not ignored.
template <class Body>
void for_each_logit(const Row& targets, const DetectionLossSpec& spec, Body body) {
  for (std::size_t a = 0; a < targets.size(); ++a) {
    const auto target = static_cast<std::int64_t>(targets[a]);
    if (spec.is_ignored(target)) continue;
    for (std::int64_t c = 0; c < spec.classes; ++c)
      body(a * static_cast<std::size_t>(spec.classes) + static_cast<std::size_t>(c), c == target);
  }
}

std::array<double, 4> code_of(const Row& row, std::size_t first) {
  return {row[first], row[first + 1], row[first + 2], row[first + 3]};
}

/// True for the code of an anchor that has an object.
bool has_target(const Row& targets, std::size_t first) {
  return targets[first] != 0 || targets[first + 1] != 0 || targets[first + 2] != 0 || targets[first + 3] != 0;
}

double box_loss_of(const Row& box, const Row& wanted, const DetectionLossSpec& spec) {
  double total = 0;
  if (spec.box_loss == BoxLossKind::kHuber) {
    for (std::size_t i = 0; i < box.size(); ++i)
      if (wanted[i] != 0) total += huber(box[i] - wanted[i], spec.delta);
  } else {
    for (std::size_t i = 0; i < box.size(); i += 4)
      if (has_target(wanted, i)) total += giou_terms(code_of(box, i), code_of(wanted, i)).loss;
  }
  return total;
}

/// The row of `view` at the position `at` of another view.
void load_at(const TensorView& view, Dims at, Row& row) {
  at[at.axes() - 1] = view.box.begin.back();
  load_row(view, offset_at(view, at), static_cast<std::int64_t>(row.size()), row.data());
}

Row row_of(const TensorView& view) { return Row(static_cast<std::size_t>(view.extent().back())); }

/// Returns (anchors with a class + 1) * groups for the group of sample n.
double normaliser(const TensorView& sums, std::int64_t n, const DetectionLossSpec& spec) {
  const std::int64_t row = (spec.group_of(n) - sums.box.begin[0]) * sums.strides[0];
  return (load(sums, row + 2) + 1) * static_cast<double>(spec.groups);
}

void detection_sums(const TensorView& logits, const TensorView& class_targets, const TensorView& boxes,
                    const TensorView& box_targets, const TensorView& sums, const DetectionLossSpec& spec) {
  Row x = row_of(logits), targets = row_of(class_targets), box = row_of(boxes), wanted = row_of(box_targets);
  for (std::int64_t g = sums.box.begin[0]; g < sums.box.end(0); ++g) {
    double total[3] = {0, 0, 0};
    for_each_row(logits.box, [&](const Dims& at) {
      if (spec.group_of(at[0]) != g) return;
      load_at(logits, at, x);
      load_at(class_targets, at, targets);
      load_at(boxes, at, box);
      load_at(box_targets, at, wanted);
      for_each_logit(targets, spec, [&](std::size_t i, bool hit) {
        total[0] += focal(hit ? x[i] : -x[i], hit ? spec.alpha : 1 - spec.alpha, spec.gamma);
      });
      total[1] += box_loss_of(box, wanted, spec);
      for (double target : targets) total[2] += spec.is_class(static_cast<std::int64_t>(target)) ? 1 : 0;
    });
    store_row(sums, (g - sums.box.begin[0]) * sums.strides[0], 3, total);
  }
}

void detection_loss(const TensorView& sums, const TensorView& loss, const DetectionLossSpec& spec) {
  double total = 0;
  for (std::int64_t g = sums.box.begin[0]; g < sums.box.end(0); ++g) {
    const std::int64_t row = (g - sums.box.begin[0]) * sums.strides[0];
    total += (load(sums, row) + spec.box_share() * load(sums, row + 1)) / (load(sums, row + 2) + 1);
  }
  store(loss, 0, total / static_cast<double>(spec.groups));
}

void focal_grad(const TensorView& logits, const TensorView& class_targets, const TensorView& sums,
                const TensorView& d_logits, const DetectionLossSpec& spec) {
  Row x = row_of(logits), targets = row_of(class_targets), grad = row_of(logits);
  for_each_row(d_logits.box, [&](const Dims& at) {
    load_at(logits, at, x);
    load_at(class_targets, at, targets);
    std::fill(grad.begin(), grad.end(), 0.0);
    const double share = spec.d_loss / normaliser(sums, at[0], spec);
    for_each_logit(targets, spec, [&](std::size_t i, bool hit) {
      grad[i] = share * (hit ? focal_derivative(x[i], spec.alpha, spec.gamma)
                             : -focal_derivative(-x[i], 1 - spec.alpha, spec.gamma));
    });
    store_row(d_logits, offset_at(d_logits, at), static_cast<std::int64_t>(grad.size()), grad.data());
  });
}

void huber_grad(const TensorView& boxes, const TensorView& box_targets, const TensorView& sums,
                const TensorView& d_boxes, const DetectionLossSpec& spec) {
  Row box = row_of(boxes), wanted = row_of(box_targets), grad = row_of(boxes);
  for_each_row(d_boxes.box, [&](const Dims& at) {
    load_at(boxes, at, box);
    load_at(box_targets, at, wanted);
    const double share = spec.d_loss * spec.box_share() / normaliser(sums, at[0], spec);
    for (std::size_t i = 0; i < box.size(); ++i)
      grad[i] = wanted[i] == 0 ? 0.0 : share * std::clamp(box[i] - wanted[i], -spec.delta, spec.delta);
    store_row(d_boxes, offset_at(d_boxes, at), static_cast<std::int64_t>(grad.size()), grad.data());
  });
}

void giou_grad(const TensorView& boxes, const TensorView& box_targets, const TensorView& sums,
               const TensorView& d_boxes, const DetectionLossSpec& spec) {
  Row box = row_of(boxes), wanted = row_of(box_targets), grad = row_of(boxes);
  for_each_row(d_boxes.box, [&](const Dims& at) {
    load_at(boxes, at, box);
    load_at(box_targets, at, wanted);
    std::fill(grad.begin(), grad.end(), 0.0);
    const double share = spec.d_loss * spec.box_share() / normaliser(sums, at[0], spec);
    for (std::size_t i = 0; i < box.size(); i += 4) {
      if (!has_target(wanted, i)) continue;
      const GiouTerms terms = giou_terms(code_of(box, i), code_of(wanted, i));
      for (std::size_t k = 0; k < 4; ++k) grad[i + k] = share * terms.d_code[k];
    }
    store_row(d_boxes, offset_at(d_boxes, at), static_cast<std::int64_t>(grad.size()), grad.data());
  });
}

}  // namespace

constinit const DetectionKernels detection = {.sums = detection_sums,
                                              .loss = detection_loss,
                                              .focal_grad = focal_grad,
                                              .huber_grad = huber_grad,
                                              .giou_grad = giou_grad};

}  // namespace voxshard::reference
