// Segmentation losses in pieces: sums over voxels (joined over cores), the value, the gradient; see
// libcore/kernels/loss.h.
//
//   segmentation_sums {logits, labels} loss -> (G, 3C + 2)     segmentation_loss {sums, logits, labels} dtype -> (1)
//   segmentation_grad {logits, labels, sums, d_loss} dtype -> d_logits (in `dtype`, the type that the backward pass
//   multiplies in)
//
// Each may have one more input, known (N, C) i32: the loss is then marginal and its sums are (G, 4C + 2).
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

/// Checks the number of inputs and the one of known classes, which may follow `plain` others; returns the type of the
/// sums.
TensorType checked_known(const SegmentationAttrs& attrs, const TensorType& logits, std::span<const TensorType> in,
                         std::size_t plain, const std::string& expected) {
  require(in.size() == plain || in.size() == plain + 1,
          "expected " + expected + ", and known classes where it has them");
  const bool marginal = in.size() > plain;
  const TensorType known{DType::kI32, {logits.shape[0], logits.shape.back()}};
  require(!marginal || in[plain] == known, "expected known classes " + to_string(known) + ", got " +
                                               (marginal ? to_string(in[plain]) : std::string("none")));
  require(!marginal || (attrs.smoothing == 0 && attrs.weights.empty()),
          "expected neither smoothing nor weights beside known classes");
  return {DType::kF64, {attrs.groups, sums_per_group(logits.shape.back(), marginal)}};
}

TensorType infer_segmentation_sums(const Attributes& attrs, std::span<const TensorType> in) {
  const char* expected = "logits and labels";
  require(in.size() >= 2, std::string("expected ") + expected);
  return checked_known(checked(attrs, in[0], in[1]), in[0], in, 2, expected);
}

TensorType infer_loss(const Attributes& attrs, std::span<const TensorType> in) {
  const char* expected = "sums, logits and labels";
  require(in.size() >= 3, std::string("expected ") + expected);
  require_shape(in, 0, checked_known(checked(attrs, in[1], in[2]), in[1], in, 3, expected).shape);
  return {DType::kF64, {1}};
}

TensorType infer_grad(const Attributes& attrs, std::span<const TensorType> in) {
  const char* expected = "logits, labels, sums and d_loss";
  require(in.size() >= 4, std::string("expected ") + expected);
  const SegmentationAttrs& a = checked(attrs, in[0], in[1]);
  require_shape(in, 2, checked_known(a, in[0], in, 4, expected).shape);
  require_shape(in, 3, {1});
  return {a.dtype, in[0].shape};
}

/// The known classes of the samples that an op iterates over.
Box known_rows(const OpContext& op, std::size_t known, const Box& iteration) {
  Box rows = Box::whole(op.inputs[known].shape);
  rows.set(0, iteration.begin[0], iteration.end(0));
  return rows;
}
Box sums_needs(const OpContext& op, int input, const Box& iteration) {
  return input == 2 ? known_rows(op, 2, iteration) : voxel_needs<SegmentationAttrs>(op, input, iteration);
}
Box grad_needs(const OpContext& op, int input, const Box& iteration) {
  return input == 4 ? known_rows(op, 4, iteration) : voxel_needs<SegmentationAttrs>(op, input, iteration);
}

void differentiate_loss(GradientContext& g) {
  const std::vector<ValueId>& in = g.node.inputs;  // sums, logits, labels, known
  std::vector<ValueId> inputs{in[1], in[2], in[0], g.d_result};
  inputs.insert(inputs.end(), in.begin() + 3, in.end());
  g.d_inputs[1] = g.builder.op("segmentation_grad", inputs, g.node.attrs, "grad/" + g.node.name);
}

/// The spec of a call whose input `at`, where it has one, is the known classes.
LossSpec with_known(LossSpec spec, const KernelCall& call, std::size_t at) {
  if (call.inputs.size() > at) spec.known = &call.inputs[at];
  return spec;
}

std::unique_ptr<Kernel> segmentation_sums_kernel(const OpContext& op, KernelSet set) {
  return std::make_unique<FunctionKernel>(
      [fn = segmentation_kernels(set).sums, spec = spec_of(op, 0)](const KernelCall& c) {
        fn(c.inputs[0].lifted(), c.inputs[1].lifted(), c.output, with_known(spec, c, 2));
      });
}

std::unique_ptr<Kernel> loss_kernel(const OpContext& op, KernelSet set) {
  return std::make_unique<FunctionKernel>([fn = segmentation_kernels(set).loss, spec = spec_of(op, 1)](
                                              const KernelCall& c) { fn(c.inputs[0], c.output, spec); });
}

std::unique_ptr<Kernel> grad_kernel(const OpContext& op, KernelSet set) {
  return std::make_unique<FunctionKernel>(
      [fn = segmentation_kernels(set).grad, given = spec_of(op, 0)](const KernelCall& c) {
        LossSpec spec = with_known(given, c, 4);
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
             .needed = sums_needs,
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
             .needed = grad_needs,
             .kernel = grad_kernel,
             .sample = {.memory = grad_sample, .channels = {2, 4, 16}}});
}

}  // namespace voxshard
