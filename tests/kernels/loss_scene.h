// Random logits and labels (some ignored) with a loss of them, for the tests of the segmentation losses.
#pragma once

#include "libcore/kernels/loss.h"
#include "libcore/kernels/loss_terms.h"
#include "tests/kernels/support.h"

namespace voxshard::test {

inline constexpr std::uint64_t kLossSeed = 31;

struct LossScene {
  Place logits, labels;
  Tensor known;  // (N, classes) where the loss is marginal
  TensorView known_view;
  LossSpec spec;
  Tensor sums, loss;

  LossScene(LossKind kind, DType type, Shape shape, std::int64_t groups, std::int64_t margin = 0)
      : spec{.kind = kind, .classes = shape.back(), .groups = groups, .batch = shape[0]},
        sums(DType::kF64, {groups, sums_per_group(shape.back())}),
        loss(DType::kF64, {1}) {
    logits = random(type, Box::whole(shape), kLossSeed, margin);
    const std::int64_t classes = shape.back();
    shape[4] = 1;
    labels = place(DType::kI32, Box::whole(shape), margin);
    fill(labels.view, [=](const Dims& at) {  // -1 is ignored
      return static_cast<double>(rng_below({.seed = kLossSeed, .stream = 9}, index_of(at), classes + 1) - 1);
    });
  }
  LossScene(const LossScene&) = delete;
  LossScene& operator=(const LossScene&) = delete;

  /// Makes the loss marginal: `is_known(sample, class)` fills the rows.
  template <class IsKnown>
  void know(const IsKnown& is_known) {
    known = Tensor(DType::kI32, {spec.batch, spec.classes});
    for (std::int64_t i = 0; i < known.count(); ++i)
      known.as<std::int32_t>()[i] = is_known(i / spec.classes, i % spec.classes) ? 1 : 0;
    known_view = known.view();
    spec.known = &known_view;
    sums = Tensor(DType::kF64, {spec.groups, sums_per_group(spec.classes, true)});
  }

  double reference_loss() {
    reference::segmentation.sums(logits.view, labels.view, sums.view(), spec);
    reference::segmentation.loss(sums.view(), loss.view(), spec);
    return loss.as<double>()[0];
  }
  /// Returns the gradient by one set of kernels, given the sums of the reference.
  Place gradient(const SegmentationKernels& kernels, DType type) const {
    Place grad = random(type, logits.view.box, kLossSeed);  // so that what is not written shows
    kernels.grad(logits.view, labels.view, sums.view(), grad.view, spec);
    return grad;
  }
  /// Expects the fast kernels to give the sums and the gradient of the reference, and blocks of a gradient its bits.
  void expect_fast_equals_reference(const std::string& what) {
    const DType type = logits.view.dtype;
    reference_loss();
    Tensor found(DType::kF64, sums.shape());
    fast::segmentation.sums(logits.view, labels.view, found.view(), spec);
    expect_close(sums.view(), found.view(), 1e-6, "sums " + what);
    Place grad = place(type, logits.view.box, 1);
    fast::segmentation.grad(logits.view, labels.view, sums.view(), grad.view, spec);
    const Place slow = gradient(reference::segmentation, type);
    double largest = 0;
    for (std::int64_t i = 0; i < slow.memory.count(); ++i)
      largest = std::max(largest, std::abs(load(slow.memory.view(), i)));
    // bf16: one unit in the last place, where the two values before rounding lie across a border
    expect_close(slow.view, grad.view, (type == DType::kBF16 ? 0x1p-7 : 1e-5) * largest, "gradient " + what);
    Box block = logits.view.box;
    block.set(3, block.extent[3] / 3, block.extent[3]);
    Place part = place(type, block);
    fast::segmentation.grad(logits.view, labels.view, sums.view(), part.view, spec);
    expect_same_bits(grad.view.sub(block), part.view, "block of the gradient " + what);
  }
};

}  // namespace voxshard::test
