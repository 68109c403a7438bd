// Segmentation losses in pieces: sums over voxels (joined over cores), the value, the gradient; see
// libcore/kernels/loss.h.
//
//   segmentation_sums {logits, labels} loss -> (G, 3C + 2)     segmentation_loss {sums, logits, labels} dtype -> (1)
//   segmentation_grad {logits, labels, sums, d_loss} dtype -> d_logits (in `dtype`, the type that the backward pass
//   multiplies in)
#include "libcore/kernels/loss_terms.h"

#include <cmath>

#include "libcore/graph/builder.h"
#include "libcore/ops/box_rules.h"
#include "libcore/ops/op_table.h"

namespace voxshard {
namespace {

LossSpec spec_of(const OpContext& op, std::size_t logits) {
  const auto& a = attrs_of<SegmentationAttrs>(op.attrs);
  return {.kind = a.loss,
          .classes = op.inputs[logits].shape.back(),
          .groups = a.groups,
          .batch = a.batch,
          .smoothing = a.smoothing,
          .weights = a.weights};
}

/// Returns the attributes after a check that logits and labels fit them.
const SegmentationAttrs& checked(const Attributes& given, const TensorType& logits, const TensorType& labels) {
  const auto& attrs = attrs_of<SegmentationAttrs>(given);
  Shape expected = logits.shape;
  expected[expected.axes() - 1] = 1;
  require(labels.shape == expected && labels.dtype == DType::kI32,
          "expected index labels i32[" + to_string(expected) + "], got " + to_string(labels));
  const auto classes = static_cast<std::size_t>(logits.shape.back());
  require(attrs.smoothing >= 0 && attrs.smoothing < 1, "expected a smoothing from 0 to below 1");
  require(attrs.weights.empty() || attrs.weights.size() == classes, "expected a weight for each class");
  for (double weight : attrs.weights) require(weight >= 0 && std::isfinite(weight), "expected weights of at least 0");
  require(attrs.batch == logits.shape[0] && attrs.groups >= 1 && attrs.batch % attrs.groups == 0,
          "the batch does not divide into groups");
  return attrs;
}

TensorType infer_segmentation_sums(const Attributes& attrs, std::span<const TensorType> in) {
  require(in.size() == 2, "expected logits and labels");
  return {DType::kF64, {checked(attrs, in[0], in[1]).groups, sums_per_group(in[0].shape.back())}};
}

TensorType infer_loss(const Attributes& attrs, std::span<const TensorType> in) {
  require(in.size() == 3, "expected sums, logits and labels");
  checked(attrs, in[1], in[2]);
  return {DType::kF64, {1}};
}

TensorType infer_grad(const Attributes& attrs, std::span<const TensorType> in) {
  require(in.size() == 4, "expected logits, labels, sums and d_loss");
  require_shape(in, 3, {1});
  return {checked(attrs, in[0], in[1]).dtype, in[0].shape};
}

void differentiate_loss(GradientContext& g) {
  g.d_inputs[1] = g.builder.op("segmentation_grad", {g.node.inputs[1], g.node.inputs[2], g.node.inputs[0], g.d_result},
                               g.node.attrs, "grad/" + g.node.name);
}

std::unique_ptr<Kernel> segmentation_sums_kernel(const OpContext& op, KernelSet set) {
  return std::make_unique<FunctionKernel>(
      [fn = segmentation_kernels(set).sums, spec = spec_of(op, 0)](const KernelCall& c) {
        fn(c.inputs[0].lifted(), c.inputs[1].lifted(), c.output, spec);
      });
}

std::unique_ptr<Kernel> loss_kernel(const OpContext& op, KernelSet set) {
  return std::make_unique<FunctionKernel>([fn = segmentation_kernels(set).loss, spec = spec_of(op, 1)](
                                              const KernelCall& c) { fn(c.inputs[0], c.output, spec); });
}

std::unique_ptr<Kernel> grad_kernel(const OpContext& op, KernelSet set) {
  return std::make_unique<FunctionKernel>(
      [fn = segmentation_kernels(set).grad, given = spec_of(op, 0)](const KernelCall& c) {
        LossSpec spec = given;
        spec.d_loss = load(c.inputs[3], 0);
        fn(c.inputs[0].lifted(), c.inputs[1].lifted(), c.inputs[2], c.output.lifted(), spec);
      });
}

TensorType labels_like(Shape logits) {
  logits[logits.axes() - 1] = 1;
  return {DType::kI32, logits};
}
TensorType sums_of_classes(std::int64_t classes) { return {DType::kF64, {1, sums_per_group(classes)}}; }

OpUse segmentation_sums_sample(DType stored, const Shape& x) {
  return {SegmentationAttrs{}, {{stored, x}, labels_like(x)}};
}
OpUse loss_sample(DType, const Shape& x) {
  const Shape voxel = {1, 1, 1, 1, element_count(x)};
  return {SegmentationAttrs{}, {sums_of_classes(element_count(x)), {DType::kF32, voxel}, labels_like(voxel)}};
}
OpUse grad_sample(DType stored, const Shape& x) {
  return {SegmentationAttrs{.dtype = stored},
          {{DType::kF32, x}, labels_like(x), sums_of_classes(x.back()), {DType::kF64, {1}}}};
}

}  // namespace

void add_loss_ops(OpTable& table) {
  table.add({.name = "segmentation_sums",
             .driver = 0,
             .attributes = SegmentationAttrs{},
             .infer = infer_segmentation_sums,
             .needed = voxel_needs<SegmentationAttrs>,
             .adds_to = adds_to_groups<SegmentationAttrs>,
             .kernel = segmentation_sums_kernel,
             .addend = [](std::span<const double> rms) { return 1 + rms[0]; },
             .sample = {.memory = segmentation_sums_sample, .channels = {2, 4, 16}, .f32_only = true}});
  table.add({.name = "segmentation_loss",
             .driver = 0,
             .attributes = SegmentationAttrs{},
             .infer = infer_loss,
             .needed = loss_needs,
             .differentiate = differentiate_loss,
             .kernel = loss_kernel,
             .sample = {.memory = loss_sample, .few = true}});
  table.add({.name = "segmentation_grad",
             .scalar = 3,
             .attributes = SegmentationAttrs{},
             .infer = infer_grad,
             .needed = voxel_needs<SegmentationAttrs>,
             .kernel = grad_kernel,
             .sample = {.memory = grad_sample, .channels = {2, 4, 16}}});
}

}  // namespace voxshard
