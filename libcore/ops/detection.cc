// The losses of a detector in pieces, one per pyramid level except for the value; see libcore/kernels/detection_loss.h.
//
//   detection_sums {logits, class_targets, boxes, box_targets} -> (G, 3)      the sums of the levels are added (op add)
//   detection_loss {sums, (logits, class_targets, boxes, box_targets) of each level} box_weight -> (1)
//   focal_grad {logits, class_targets, sums, d_loss} dtype -> d_logits
//   huber_grad {boxes, box_targets, sums, d_loss} dtype -> d_boxes
//   giou_grad {boxes, box_targets, sums, d_loss} dtype -> d_boxes       the same where box_loss is giou
//
// Attributes: all ops read groups and batch; all but focal_grad box_loss; detection_sums and focal_grad also alpha and
// gamma; detection_sums and huber_grad also delta. The number of classes per anchor is the logits' channels divided by
// the class targets' channels.
#include "libcore/kernels/detection_loss.h"

#include "libcore/graph/builder.h"
#include "libcore/ops/box_rules.h"
#include "libcore/ops/op_table.h"

namespace voxshard {
namespace {

constexpr std::size_t kPerLevel = 4;
constexpr std::int64_t kSums = 3;

DetectionLossSpec spec_of(const Attributes& attrs, std::int64_t classes) {
  const auto& a = attrs_of<DetectionAttrs>(attrs);
  return {.classes = classes,
          .groups = a.groups,
          .batch = a.batch,
          .alpha = a.alpha,
          .gamma = a.gamma,
          .delta = a.delta,
          .box_loss = a.box_loss,
          .box_weight = a.box_weight};
}

std::int64_t classes_of(const TensorType& logits, const TensorType& class_targets) {
  return logits.shape.back() / class_targets.shape.back();
}

void require_batch(const DetectionAttrs& attrs, const TensorType& x) {
  require(attrs.batch == x.shape[0] && attrs.groups >= 1 && attrs.batch % attrs.groups == 0,
          "the batch does not divide into groups");
}

void require_classes(const DetectionAttrs& attrs, const TensorType& logits, const TensorType& targets) {
  const std::int64_t anchors = targets.shape.empty() ? 0 : targets.shape.back();
  require(anchors > 0 && logits.shape.back() % anchors == 0 && logits.shape.back() > 0,
          "expected logits of one number per anchor and class, got " + to_string(logits) + " for targets " +
              to_string(targets));
  Shape expected = logits.shape;
  expected[expected.axes() - 1] = anchors;
  require(targets.shape == expected && targets.dtype == DType::kI32,
          "expected class targets i32[" + to_string(expected) + "], got " + to_string(targets));
  require_batch(attrs, logits);
}

void require_boxes(const DetectionAttrs& attrs, const TensorType& boxes, const TensorType& targets) {
  require(targets.shape == boxes.shape && is_float(targets.dtype),
          "expected box targets of shape " + to_string(boxes.shape) + ", got " + to_string(targets));
  require_batch(attrs, boxes);
}

void require_level(const DetectionAttrs& attrs, std::span<const TensorType> level) {
  require_classes(attrs, level[0], level[1]);
  require_boxes(attrs, level[2], level[3]);
  Shape expected = level[1].shape;
  expected[expected.axes() - 1] *= 4;
  require(level[2].shape == expected,
          "expected boxes of shape " + to_string(expected) + ", got " + to_string(level[2]));
}

void require_sums(const DetectionAttrs& attrs, const TensorType& sums) {
  require(sums.shape == Shape{attrs.groups, kSums},
          "expected sums of shape " + to_string(Shape{attrs.groups, kSums}) + ", got " + to_string(sums.shape));
}

TensorType infer_detection_sums(const Attributes& given, std::span<const TensorType> in) {
  const auto& attrs = attrs_of<DetectionAttrs>(given);
  require(in.size() == kPerLevel, "expected logits, class targets, boxes and box targets");
  require_level(attrs, in);
  return {DType::kF64, {attrs.groups, kSums}};
}

TensorType infer_detection_loss(const Attributes& given, std::span<const TensorType> in) {
  const auto& attrs = attrs_of<DetectionAttrs>(given);
  require(in.size() > 1 && in.size() % kPerLevel == 1, "expected sums and four tensors of each level");
  require_sums(attrs, in[0]);
  for (std::size_t i = 1; i < in.size(); i += kPerLevel) require_level(attrs, in.subspan(i, kPerLevel));
  return {DType::kF64, {1}};
}

TensorType infer_focal_grad(const Attributes& given, std::span<const TensorType> in) {
  const auto& attrs = attrs_of<DetectionAttrs>(given);
  require(in.size() == 4, "expected logits, class targets, sums and d_loss");
  require_shape(in, 3, {1});
  require_classes(attrs, in[0], in[1]);
  require_sums(attrs, in[2]);
  return {attrs.dtype, in[0].shape};
}

template <BoxLossKind kind>
TensorType infer_box_grad(const Attributes& given, std::span<const TensorType> in) {
  const auto& attrs = attrs_of<DetectionAttrs>(given);
  require(attrs.box_loss == kind,
          std::string("expected the box loss ") + kBoxLossNames[static_cast<std::size_t>(kind)]);
  require(in.size() == 4, "expected boxes, box targets, sums and d_loss");
  require_shape(in, 3, {1});
  require_boxes(attrs, in[0], in[1]);
  require_sums(attrs, in[2]);
  return {attrs.dtype, in[0].shape};
}

void differentiate_detection_loss(GradientContext& g) {
  Builder& b = g.builder;
  const auto& in = g.node.inputs;
  const bool huber = attrs_of<DetectionAttrs>(g.node.attrs).box_loss == BoxLossKind::kHuber;
  for (std::size_t i = 1; i < in.size(); i += kPerLevel) {
    const std::string name = "grad/" + g.node.name + "/";
    g.d_inputs[i] =
        b.op("focal_grad", {in[i], in[i + 1], in[0], g.d_result}, g.node.attrs, name + b.graph().node(in[i]).name);
    g.d_inputs[i + 2] = b.op(huber ? "huber_grad" : "giou_grad", {in[i + 2], in[i + 3], in[0], g.d_result},
                             g.node.attrs, name + b.graph().node(in[i + 2]).name);
  }
}

/// Each logit costs two exponentials, a logarithm and a division: about 50 operations.
Work focal_work(const OpContext& op, const Box& it) {
  constexpr double kPerLogit = 50;
  Work work{.flops = kPerLogit * static_cast<double>(it.count())};
  for (int i = 0; i < static_cast<int>(op.inputs.size()); ++i) {
    const TensorType& input = op.inputs[i];
    if (input.shape.axes() != it.axes()) continue;
    work.bytes += static_cast<double>(it.count() / it.extent.back() * input.shape.back() * dtype_bytes(input.dtype));
  }
  if (op.result.shape.axes() == it.axes()) work.bytes += static_cast<double>(it.count() * dtype_bytes(op.result.dtype));
  return work;
}

std::unique_ptr<Kernel> detection_sums_kernel(const OpContext& op, KernelSet set) {
  return std::make_unique<FunctionKernel>(
      [fn = detection_kernels(set).sums,
       spec = spec_of(op.attrs, classes_of(op.inputs[0], op.inputs[1]))](const KernelCall& c) {
        fn(c.inputs[0].lifted(), c.inputs[1].lifted(), c.inputs[2].lifted(), c.inputs[3].lifted(), c.output, spec);
      });
}

std::unique_ptr<Kernel> detection_loss_kernel(const OpContext& op, KernelSet set) {
  return std::make_unique<FunctionKernel>([fn = detection_kernels(set).loss, spec = spec_of(op.attrs, 1)](
                                              const KernelCall& c) { fn(c.inputs[0], c.output, spec); });
}

DetectionLossSpec with_d_loss(DetectionLossSpec spec, const KernelCall& call) {
  spec.d_loss = load(call.inputs[3], 0);
  return spec;
}

std::unique_ptr<Kernel> focal_grad_kernel(const OpContext& op, KernelSet set) {
  return std::make_unique<FunctionKernel>(
      [fn = detection_kernels(set).focal_grad,
       spec = spec_of(op.attrs, classes_of(op.inputs[0], op.inputs[1]))](const KernelCall& c) {
        fn(c.inputs[0].lifted(), c.inputs[1].lifted(), c.inputs[2], c.output.lifted(), with_d_loss(spec, c));
      });
}

template <BoxLossKind kind>
std::unique_ptr<Kernel> box_grad_kernel(const OpContext& op, KernelSet set) {
  const DetectionKernels& kernels = detection_kernels(set);
  return std::make_unique<FunctionKernel>([fn = kind == BoxLossKind::kHuber ? kernels.huber_grad : kernels.giou_grad,
                                           spec = spec_of(op.attrs, 1)](const KernelCall& c) {
    fn(c.inputs[0].lifted(), c.inputs[1].lifted(), c.inputs[2], c.output.lifted(), with_d_loss(spec, c));
  });
}

/// Samples have nine anchors: channels are 9 x 3 or 9 x 91 logits, or four numbers per anchor.
constexpr std::int64_t kSampleAnchors = 9;
constexpr double kFewLogits = kSampleAnchors * 3, kManyLogits = kSampleAnchors * 91, kBoxes = kSampleAnchors * 4;

DetectionAttrs sample_attributes(DType stored, std::int64_t groups = 1) {
  return {
      .groups = groups, .batch = groups, .box_weight = 50, .alpha = 0.25, .gamma = 1.5, .delta = 0.1, .dtype = stored};
}

Shape with_channels(Shape x, std::int64_t channels) {
  x[x.axes() - 1] = channels;
  return x;
}

OpUse detection_sums_sample(DType, const Shape& x) {
  const TensorType boxes{DType::kF32, with_channels(x, 4 * kSampleAnchors)};
  return {sample_attributes(DType::kF32),
          {{DType::kF32, x}, {DType::kI32, with_channels(x, kSampleAnchors)}, boxes, boxes}};
}
/// The sample has as many groups as x has numbers.
OpUse detection_loss_sample(DType, const Shape& x) {
  const std::int64_t groups = element_count(x);
  const TensorType anchor{DType::kF32, {groups, 1, 1, 1}}, box{DType::kF32, {groups, 1, 1, 4}};
  return {sample_attributes(DType::kF32, groups),
          {{DType::kF64, {groups, kSums}}, anchor, {DType::kI32, anchor.shape}, box, box}};
}
OpUse focal_grad_sample(DType stored, const Shape& x) {
  return {sample_attributes(stored),
          {{DType::kF32, x},
           {DType::kI32, with_channels(x, kSampleAnchors)},
           {DType::kF64, {1, kSums}},
           {DType::kF64, {1}}}};
}
template <BoxLossKind kind>
OpUse box_grad_sample(DType stored, const Shape& x) {
  DetectionAttrs attrs = sample_attributes(stored);
  attrs.box_loss = kind;
  return {attrs, {{DType::kF32, x}, {DType::kF32, x}, {DType::kF64, {1, kSums}}, {DType::kF64, {1}}}};
}

}  // namespace

void add_detection_ops(OpTable& table) {
  table.add({.name = "detection_sums",
             .driver = 0,
             .attributes = DetectionAttrs{},
             .infer = infer_detection_sums,
             .adds_to = adds_to_groups<DetectionAttrs>,
             .work = focal_work,
             .kernel = detection_sums_kernel,
             // A position holds anchors x classes logits, up to a thousand, each adding at most about its size.
             .addend = [](std::span<const double> rms) { return 1000 * (1 + rms[0] + rms[2]); },
             .sample = {.memory = detection_sums_sample, .channels = {kFewLogits, kManyLogits}, .f32_only = true}});
  table.add({.name = "detection_loss",
             .driver = 0,
             .attributes = DetectionAttrs{},
             .infer = infer_detection_loss,
             .needed = loss_needs,
             .differentiate = differentiate_detection_loss,
             .kernel = detection_loss_kernel,
             .sample = {.memory = detection_loss_sample, .few = true}});
  table.add({.name = "focal_grad",
             .scalar = 3,
             .attributes = DetectionAttrs{},
             .infer = infer_focal_grad,
             .needed = voxel_needs<DetectionAttrs>,
             .work = focal_work,
             .kernel = focal_grad_kernel,
             .sample = {.memory = focal_grad_sample, .channels = {kFewLogits, kManyLogits}}});
  constexpr BoxLossKind kHuber = BoxLossKind::kHuber, kGiou = BoxLossKind::kGiou;
  table.add({.name = "huber_grad",
             .scalar = 3,
             .attributes = DetectionAttrs{},
             .infer = infer_box_grad<kHuber>,
             .needed = voxel_needs<DetectionAttrs>,
             .kernel = box_grad_kernel<kHuber>,
             .sample = {.memory = box_grad_sample<kHuber>, .channels = {kBoxes}}});
  table.add({.name = "giou_grad",
             .scalar = 3,
             .attributes = DetectionAttrs{.box_loss = kGiou},
             .infer = infer_box_grad<kGiou>,
             .needed = voxel_needs<DetectionAttrs>,
             .kernel = box_grad_kernel<kGiou>,
             .sample = {.memory = box_grad_sample<kGiou>, .channels = {kBoxes}}});
}

}  // namespace voxshard
