// Convolution and its two gradients. They are closed under differentiation: a transposed convolution is conv_input_grad
// used forward, and its gradients are conv and conv_weight_grad with the roles of x and y exchanged.
//
//   conv             {x, w[, bias]}   window, dtype          -> y
//   conv_input_grad  {d_y, w[, bias]} window, shape, dtype   -> d_x of `shape`
//   conv_weight_grad {x, d_y}         window                 -> d_w (K..., Ci, Co), partial where d_y is cut
#include "libcore/graph/builder.h"
#include "libcore/kernels/conv.h"
#include "libcore/ops/box_rules.h"
#include "libcore/ops/op_table.h"

namespace voxshard {
namespace {

void require_window(const Attributes& attrs, const TensorType& x) {
  const Window& w = attrs.window;
  require(w.rank() >= 2 && w.rank() <= 3, "expected a window over 2 or 3 spatial axes, got " + std::to_string(w.rank()));
  require(x.shape.rank() == w.rank() + 2,
          "expected a tensor of rank " + std::to_string(w.rank() + 2) + ", got shape " + to_string(x.shape));
  for (int a = 0; a < w.rank(); ++a)
    require(w.kernel[a] > 0 && w.stride[a] > 0 && w.dilation[a] > 0 && w.pad_lo[a] >= 0 && w.pad_hi[a] >= 0,
            "kernel, stride and dilation must be positive and padding not negative");
}

Shape weight_shape(const Window& window, std::int64_t in, std::int64_t out) {
  Shape shape = window.kernel;
  shape.push_back(in);
  shape.push_back(out);
  return shape;
}

TensorType infer_conv(const Attributes& attrs, std::span<const TensorType> in) {
  require(in.size() == 2 || in.size() == 3, "expected x, weights and optionally a bias");
  require_window(attrs, in[0]);
  const std::int64_t out = in[1].shape.empty() ? 0 : in[1].shape.back();
  require_shape(in, 1, weight_shape(attrs.window, in[0].shape.back(), out));
  if (in.size() == 3) require_shape(in, 2, {out});
  Shape shape = in[0].shape;
  for (int a = 0; a < attrs.window.rank(); ++a) shape[a + 1] = attrs.window.output_extent(a, shape[a + 1]);
  shape[shape.rank() - 1] = out;
  return {attrs.dtype, shape};
}

TensorType infer_input_grad(const Attributes& attrs, std::span<const TensorType> in) {
  require(in.size() == 2 || in.size() == 3, "expected d_y, weights and optionally a bias");
  require_window(attrs, in[0]);
  require(attrs.shape.rank() == in[0].shape.rank(), "expected `shape` of the result with the rank of d_y");
  require_shape(in, 1, weight_shape(attrs.window, attrs.shape.back(), in[0].shape.back()));
  if (in.size() == 3) require_shape(in, 2, {attrs.shape.back()});
  for (int a = 0; a < attrs.window.rank(); ++a)
    require(attrs.window.output_extent(a, attrs.shape[a + 1]) == in[0].shape[a + 1],
            "a window over " + to_string(attrs.shape) + " does not give " + to_string(in[0].shape));
  return {attrs.dtype, attrs.shape};
}

TensorType infer_weight_grad(const Attributes& attrs, std::span<const TensorType> in) {
  require(in.size() == 2, "expected x and d_y");
  require_window(attrs, in[0]);
  return {in[0].dtype == DType::kF64 ? DType::kF64 : DType::kF32,
          weight_shape(attrs.window, in[0].shape.back(), in[1].shape.back())};
}

Box conv_needs(const OpContext& op, int input, const Box& it) {
  if (input > 0) return Box::whole(op.inputs[static_cast<std::size_t>(input)].shape);
  return window_reads(op.attrs.window, it, op.inputs[0].shape.back());
}

Box input_grad_needs(const OpContext& op, int input, const Box& it) {
  if (input > 0) return Box::whole(op.inputs[static_cast<std::size_t>(input)].shape);
  return windows_reading(op.attrs.window, it, op.inputs[0].shape.back());
}

Box weight_grad_needs(const OpContext& op, int input, const Box& it) {
  return input == 1 ? it : window_reads(op.attrs.window, it, op.inputs[0].shape.back());
}

std::int64_t strided_boundary(const OpContext& op, int axis, std::int64_t boundary) {
  return ceil_div(boundary, op.attrs.window.stride[axis - 1]);
}

std::int64_t unstrided_boundary(const OpContext& op, int axis, std::int64_t boundary) {
  return boundary * op.attrs.window.stride[axis - 1];
}

double multiply_adds(const OpContext& op, const Box& y_box, std::int64_t ci, std::int64_t co) {
  return static_cast<double>(y_box.count() / std::max<std::int64_t>(1, y_box.extent.back())) *
         static_cast<double>(op.attrs.window.volume() * ci * co);
}

Work conv_work(const OpContext& op, const Box& it) {
  Work work{2 * multiply_adds(op, it, op.inputs[0].shape.back(), op.result.shape.back()), 0};
  work.bytes = static_cast<double>(conv_needs(op, 0, it).count() * dtype_bytes(op.inputs[0].dtype) +
                                   it.count() * dtype_bytes(op.result.dtype) + op.inputs[1].bytes());
  return work;
}

Work input_grad_work(const OpContext& op, const Box& it) {
  Work work{2 * multiply_adds(op, it, op.inputs[0].shape.back(), op.result.shape.back()) /
                static_cast<double>(element_count(op.attrs.window.stride)),
            0};
  work.bytes = static_cast<double>(input_grad_needs(op, 0, it).count() * dtype_bytes(op.inputs[0].dtype) +
                                   it.count() * dtype_bytes(op.result.dtype) + op.inputs[1].bytes());
  return work;
}

Work weight_grad_work(const OpContext& op, const Box& it) {
  Work work{2 * multiply_adds(op, it, op.inputs[0].shape.back(), op.inputs[1].shape.back()), 0};
  work.bytes = static_cast<double>(weight_grad_needs(op, 0, it).count() * dtype_bytes(op.inputs[0].dtype) +
                                   it.count() * dtype_bytes(op.inputs[1].dtype) + op.result.bytes());
  return work;
}

void differentiate_conv(GradientContext& g) {
  const ValueId x = g.node.inputs[0], w = g.node.inputs[1];
  Builder& b = g.builder;
  if (g.wanted[0])
    g.d_inputs[0] = b.op("conv_input_grad", {g.d_result, w},
                         {.window = g.node.attrs.window, .shape = b.type(x).shape, .dtype = b.type(x).dtype},
                         "grad/" + g.node.name + "/input");
  if (g.wanted[1])
    g.d_inputs[1] = b.op("conv_weight_grad", {x, g.d_result}, {.window = g.node.attrs.window},
                         "grad/" + g.node.name + "/weights");
  if (g.node.inputs.size() > 2 && g.wanted[2])
    g.d_inputs[2] = b.op("channel_sum", {g.d_result}, {}, "grad/" + g.node.name + "/bias");
}

void differentiate_input_grad(GradientContext& g) {
  const ValueId d_y = g.node.inputs[0], w = g.node.inputs[1];
  Builder& b = g.builder;
  if (g.wanted[0])
    g.d_inputs[0] = b.op("conv", {g.d_result, w}, {.window = g.node.attrs.window, .dtype = b.type(d_y).dtype},
                         "grad/" + g.node.name + "/input");
  if (g.wanted[1])
    g.d_inputs[1] = b.op("conv_weight_grad", {g.d_result, d_y}, {.window = g.node.attrs.window},
                         "grad/" + g.node.name + "/weights");
  if (g.node.inputs.size() > 2 && g.wanted[2])
    g.d_inputs[2] = b.op("channel_sum", {g.d_result}, {}, "grad/" + g.node.name + "/bias");
}

KernelSet set_for(const OpContext& op, KernelSet set) {
  return op.inputs[0].dtype == DType::kF64 ? KernelSet::kReference : set;
}

std::unique_ptr<Kernel> conv_kernel(const OpContext& op, KernelSet set) {
  return make_conv_forward(set_for(op, set), op.attrs.window, op.inputs[1].shape, op.inputs[0].dtype);
}

std::unique_ptr<Kernel> input_grad_kernel(const OpContext& op, KernelSet set) {
  return make_conv_input_grad(set_for(op, set), op.attrs.window, op.inputs[1].shape, op.inputs[0].dtype);
}

std::unique_ptr<Kernel> weight_grad_kernel(const OpContext& op, KernelSet set) {
  return make_conv_weight_grad(set_for(op, set), op.attrs.window, op.result.shape, op.inputs[0].dtype);
}

}  // namespace

void add_conv_ops(OpTable& table) {
  table.add({.name = "conv",
             .infer = infer_conv,
             .needed = conv_needs,
             .boundary = strided_boundary,
             .differentiate = differentiate_conv,
             .work = conv_work,
             .kernel = conv_kernel});
  table.add({.name = "conv_input_grad",
             .infer = infer_input_grad,
             .needed = input_grad_needs,
             .boundary = unstrided_boundary,
             .differentiate = differentiate_input_grad,
             .work = input_grad_work,
             .kernel = input_grad_kernel});
  table.add({.name = "conv_weight_grad",
             .driver = 1,
             .infer = infer_weight_grad,
             .needed = weight_grad_needs,
             .work = weight_grad_work,
             .kernel = weight_grad_kernel,
             .addend = [](std::span<const double> rms) { return rms[0] * rms[1]; }});
}

}  // namespace voxshard
