// Ops that work element by element.
//
//   dropout {x, draw} rate, stream: draw (2) i32 = {seed, step}
//   leaky_relu {x} slope    leaky_relu_grad {x, d_y} slope    add {a, b}    scale {x} by    convert {x} dtype
//   one_like {x}: ones      broadcast_like {scalar, like}     lerp {old, new} momentum m: m * old + (1 - m) * new
#include "libcore/kernels/pointwise.h"

#include "libcore/graph/builder.h"
#include "libcore/ops/box_rules.h"
#include "libcore/ops/op_table.h"

namespace voxshard {
namespace {

TensorType infer_same(const Attributes&, std::span<const TensorType> in) {
  require(in.size() == 1, "expected one input");
  return in[0];
}
TensorType infer_pair(const Attributes&, std::span<const TensorType> in) {
  require(in.size() == 2, "expected two inputs");
  require_shape(in, 1, in[0].shape);
  return in[0];
}
TensorType infer_convert(const Attributes& attrs, std::span<const TensorType> in) {
  return {attrs_of<ConvertAttrs>(attrs).dtype, infer_same(attrs, in).shape};
}
TensorType infer_broadcast(const Attributes&, std::span<const TensorType> in) {
  require_shape(in, 0, {1});
  require(in.size() == 2, "expected a number and a tensor");
  return in[1];
}

Box broadcast_needs(const OpContext& op, int input, const Box&) {
  const Shape& shape = op.inputs[input].shape;
  return input == 0 ? Box::whole(shape) : Box::none(shape.axes());  // `like` lends its shape and layout only
}

TensorType infer_dropout(const Attributes& attrs, std::span<const TensorType> in) {
  require(in.size() == 2, "expected x and a draw");
  require_shape(in, 1, {2});
  const double rate = attrs_of<DropoutAttrs>(attrs).rate;
  require(rate >= 0 && rate < 1, "expected a rate from 0 to below 1");
  return in[0];
}

Box needs_nothing(const OpContext& op, int input, const Box&) { return Box::none(op.inputs[input].shape.axes()); }

void differentiate_constant(GradientContext&) {}  // the result is constant

void differentiate_relu(GradientContext& g) {
  g.d_inputs[0] = g.builder.op("leaky_relu_grad", {g.node.inputs[0], g.d_result}, g.node.attrs, "grad/" + g.node.name);
}

void differentiate_dropout(GradientContext& g) {
  g.d_inputs[0] = g.builder.op("dropout", {g.d_result, g.node.inputs[1]}, g.node.attrs, "grad/" + g.node.name);
}

void differentiate_add(GradientContext& g) { g.d_inputs[0] = g.d_inputs[1] = g.d_result; }

void differentiate_scale(GradientContext& g) {
  g.d_inputs[0] = g.builder.op("scale", {g.d_result}, g.node.attrs, "grad/" + g.node.name);
}

void differentiate_convert(GradientContext& g) {
  const DType wanted = g.builder.type(g.node.inputs[0]).dtype;
  // A weight gradient is already f32 when the weight was converted to bf16 for the multiplication.
  g.d_inputs[0] = g.builder.type(g.d_result).dtype == wanted
                      ? g.d_result
                      : g.builder.op("convert", {g.d_result}, ConvertAttrs{.dtype = wanted}, "grad/" + g.node.name);
}

std::unique_ptr<Kernel> relu_kernel(const OpContext& op, KernelSet set) {
  return std::make_unique<FunctionKernel>(
      [fn = pointwise_kernels(set).leaky_relu, slope = attrs_of<ActivationAttrs>(op.attrs).slope](const KernelCall& c) {
        fn(c.inputs[0], c.output, slope);
      });
}

std::unique_ptr<Kernel> relu_grad_kernel(const OpContext& op, KernelSet set) {
  return std::make_unique<FunctionKernel>([fn = pointwise_kernels(set).leaky_relu_grad,
                                           slope = attrs_of<ActivationAttrs>(op.attrs).slope](const KernelCall& c) {
    fn(c.inputs[0], c.inputs[1], c.output, slope);
  });
}

std::unique_ptr<Kernel> dropout_kernel(const OpContext& op, KernelSet set) {
  return std::make_unique<FunctionKernel>([fn = pointwise_kernels(set).dropout,
                                           attrs = attrs_of<DropoutAttrs>(op.attrs),
                                           shape = op.result.shape](const KernelCall& c) {
    const auto drawn = [&](std::int64_t i) { return static_cast<std::uint64_t>(load(c.inputs[1], i)); };
    const auto stream = static_cast<std::uint64_t>(attrs.stream);
    fn(c.inputs[0], c.output,
       {.key = {.seed = drawn(0), .stream = rng_mix(stream + rng_mix(drawn(1) + 1))},
        .rate = attrs.rate,
        .shape = shape});
  });
}

std::unique_ptr<Kernel> add_kernel(const OpContext&, KernelSet set) {
  return std::make_unique<FunctionKernel>(
      [fn = pointwise_kernels(set).add](const KernelCall& c) { fn(c.inputs[0], c.inputs[1], c.output); });
}

std::unique_ptr<Kernel> scale_kernel(const OpContext& op, KernelSet set) {
  return std::make_unique<FunctionKernel>(
      [fn = pointwise_kernels(set).scale, factor = attrs_of<ScaleAttrs>(op.attrs).by](const KernelCall& c) {
        fn(c.inputs[0], c.output, factor);
      });
}

std::unique_ptr<Kernel> convert_kernel(const OpContext&, KernelSet set) {
  return std::make_unique<FunctionKernel>(
      [fn = pointwise_kernels(set).convert](const KernelCall& c) { fn(c.inputs[0], c.output); });
}

// The next kernels only fill their output.

std::unique_ptr<Kernel> one_kernel(const OpContext&, KernelSet) {
  return std::make_unique<FunctionKernel>([](const KernelCall& c) { fill(c.output, 1); });
}

std::unique_ptr<Kernel> broadcast_kernel(const OpContext&, KernelSet) {
  return std::make_unique<FunctionKernel>([](const KernelCall& c) { fill(c.output, load(c.inputs[0], 0)); });
}

std::unique_ptr<Kernel> lerp_kernel(const OpContext& op, KernelSet set) {
  return std::make_unique<FunctionKernel>(
      [fn = pointwise_kernels(set).lerp, m = attrs_of<LerpAttrs>(op.attrs).momentum](const KernelCall& c) {
        fn(c.inputs[0], c.inputs[1], c.output, m);
      });
}

OpUse one_sample(DType stored, const Shape& x) { return {{}, {{stored, x}}}; }
OpUse scale_sample(DType stored, const Shape& x) { return {ScaleAttrs{.by = 0.5}, {{stored, x}}}; }
OpUse pair_sample(DType stored, const Shape& x) { return {{}, {{stored, x}, {stored, x}}}; }
OpUse dropout_sample(DType stored, const Shape& x) {
  return {DropoutAttrs{.rate = 0.5}, {{stored, x}, {DType::kI32, {2}}}};
}
OpUse relu_sample(DType stored, const Shape& x) { return {ActivationAttrs{.slope = 0}, {{stored, x}}}; }
OpUse relu_grad_sample(DType stored, const Shape& x) {
  return {ActivationAttrs{.slope = 0}, {{stored, x}, {stored, x}}};
}
OpUse convert_sample(DType stored, const Shape& x) { return {ConvertAttrs{.dtype = stored}, {{DType::kF32, x}}}; }
OpUse broadcast_sample(DType stored, const Shape& x) { return {{}, {{stored, {1}}, {stored, x}}}; }
/// A sample of channels' running statistics.
OpUse lerp_sample(DType stored, const Shape& x) {
  const TensorType stats{stored, {1, element_count(x), 2}};
  return {LerpAttrs{.momentum = 0.5}, {stats, stats}};
}

}  // namespace

void add_pointwise_ops(OpTable& table) {
  const ActivationAttrs activation;
  table.add({.name = "leaky_relu",
             .attributes = activation,
             .infer = infer_same,
             .differentiate = differentiate_relu,
             .kernel = relu_kernel,
             .sample = {.memory = relu_sample}});
  table.add({.name = "leaky_relu_grad",
             .attributes = activation,
             .infer = infer_pair,
             .kernel = relu_grad_kernel,
             .sample = {.memory = relu_grad_sample}});
  table.add({.name = "dropout",
             .attributes = DropoutAttrs{},
             .infer = infer_dropout,
             .differentiate = differentiate_dropout,
             .kernel = dropout_kernel,
             .sample = {.memory = dropout_sample}});
  table.add({.name = "add",
             .infer = infer_pair,
             .differentiate = differentiate_add,
             .kernel = add_kernel,
             .sample = {.memory = pair_sample}});
  table.add({.name = "scale",
             .attributes = ScaleAttrs{},
             .infer = infer_same,
             .differentiate = differentiate_scale,
             .kernel = scale_kernel,
             .sample = {.memory = scale_sample}});
  table.add({.name = "convert",
             .attributes = ConvertAttrs{},
             .infer = infer_convert,
             .differentiate = differentiate_convert,
             .kernel = convert_kernel,
             .sample = {.memory = convert_sample}});
  table.add({.name = "one_like",
             .infer = infer_same,
             .needed = needs_nothing,
             .differentiate = differentiate_constant,
             .kernel = one_kernel,
             .sample = {.memory = one_sample, .few = true}});
  table.add({.name = "broadcast_like",
             .infer = infer_broadcast,
             .needed = broadcast_needs,
             .kernel = broadcast_kernel,
             .sample = {.memory = broadcast_sample}});
  table.add({.name = "lerp",
             .attributes = LerpAttrs{},
             .infer = infer_pair,
             .kernel = lerp_kernel,
             .sample = {.memory = lerp_sample, .few = true}});
}

}  // namespace voxshard
