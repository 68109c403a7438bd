// Pooling and nearest up-sampling. The gradient of a maximum gathers through the stored index of the first maximum, so
// overlapping windows need nothing added back at seams.
//
//   max_pool {x} window -> y              max_pool_argmax {x} window -> u8       max_pool_grad {arg, d_y} window, shape
//   avg_pool {x} window -> y              avg_pool_grad {d_y} window, shape
//   upsample_nearest {x} factor, shape    upsample_nearest_grad {d_y} factor, shape
//   subsample {x} factor, shape -> y: of each block of `factor` voxels one (for labels, which nothing is differentiated
//   by)
#include "libcore/kernels/pool.h"

#include "libcore/graph/builder.h"
#include "libcore/ops/box_rules.h"
#include "libcore/ops/op_table.h"

namespace voxshard {
namespace {

const Dims& factor_of(const OpContext& op) { return attrs_of<ResizeAttrs>(op.attrs).factor; }

TensorType infer_pool(const Attributes& attrs, std::span<const TensorType> in) {
  const Window& w = attrs_of<PoolAttrs>(attrs).window;
  require(in.size() == 1 && in[0].shape.axes() == w.axes() + 2, "expected one tensor with the window's spatial axes");
  Shape shape = in[0].shape;
  for (int a = 0; a < w.axes(); ++a) {
    require(w.pad_lo[a] < w.span(a) && w.pad_hi[a] < w.span(a), "a window may not lie wholly in the padding");
    shape[a + 1] = w.output_extent(a, shape[a + 1]);
  }
  return {in[0].dtype, shape};
}

TensorType infer_argmax(const Attributes& attrs, std::span<const TensorType> in) {
  const std::int64_t voxels = attrs_of<PoolAttrs>(attrs).window.volume();
  require(voxels <= 256, "expected a pooling window of at most 256 voxels, got " + std::to_string(voxels));
  return {DType::kU8, infer_pool(attrs, in).shape};
}

int spatial_axes(const PoolGradAttrs& attrs) { return attrs.window.axes(); }
int spatial_axes(const ResizeAttrs& attrs) {
  for (auto factor : attrs.factor) require(factor >= 1, "expected factors of at least 1");
  return attrs.factor.axes();
}

template <class Attrs>
TensorType infer_shaped(const Attributes& attrs, std::span<const TensorType> in) {
  const Shape& shape = attrs_of<Attrs>(attrs).shape;
  require(
      in.size() == 1 && shape.axes() == in[0].shape.axes() && spatial_axes(attrs_of<Attrs>(attrs)) + 2 == shape.axes(),
      "expected one tensor and `shape` of its rank");
  return {in[0].dtype, shape};
}

TensorType infer_max_pool_grad(const Attributes& attrs, std::span<const TensorType> in) {
  require(in.size() == 2, "expected argmax and d_y");
  require_shape(in, 0, in[1].shape);
  return infer_shaped<PoolGradAttrs>(attrs, in.last(1));
}

TensorType infer_upsample(const Attributes& attrs, std::span<const TensorType> in) {
  const TensorType type = infer_shaped<ResizeAttrs>(attrs, in);
  const Dims& factor = attrs_of<ResizeAttrs>(attrs).factor;
  for (int a = 0; a < factor.axes(); ++a)
    require(ceil_div(type.shape[a + 1], factor[a]) == in[0].shape[a + 1],
            "cannot up-sample " + to_string(in[0].shape) + " to " + to_string(type.shape));
  return type;
}

Box pool_needs(const OpContext& op, int, const Box& it) {
  return clip(window_reads(window_of(op), it, op.inputs[0].shape.back()), op.inputs[0].shape);
}

Box pool_grad_needs(const OpContext& op, int input, const Box& it) {
  const Shape& shape = op.inputs[input].shape;
  return clip(windows_reading(window_of(op), it, shape.back()), shape);
}

Box upsample_needs(const OpContext& op, int, const Box& it) {
  Box box = it;
  for (int a = 0; a < factor_of(op).axes(); ++a)
    box.set(a + 1, floor_div(it.begin[a + 1], factor_of(op)[a]), ceil_div(it.end(a + 1), factor_of(op)[a]));
  return box;
}

/// The last block may be incomplete, or dropped as by a pool without padding.
TensorType infer_subsample(const Attributes& attrs, std::span<const TensorType> in) {
  const TensorType type = infer_shaped<ResizeAttrs>(attrs, in);
  const Dims& factor = attrs_of<ResizeAttrs>(attrs).factor;
  for (int a = 0; a < factor.axes(); ++a) {
    const std::int64_t x = in[0].shape[a + 1], y = type.shape[a + 1];
    require(y == ceil_div(x, factor[a]) || y == x / factor[a],
            "cannot sub-sample " + to_string(in[0].shape) + " to " + to_string(type.shape));
  }
  return type;
}

Box subsample_needs(const OpContext& op, int, const Box& it) {
  Box box = it;
  const Dims& factor = factor_of(op);
  for (int a = 0; a < factor.axes() && !it.empty(); ++a) {
    const auto from = [&](std::int64_t o) { return subsampled_from(o, factor[a], op.inputs[0].shape[a + 1]); };
    box.set(a + 1, from(it.begin[a + 1]), from(it.end(a + 1) - 1) + 1);
  }
  return box;
}

Box upsample_grad_needs(const OpContext& op, int, const Box& it) {
  Box box = it;
  for (int a = 0; a < factor_of(op).axes(); ++a)
    box.set(a + 1, it.begin[a + 1] * factor_of(op)[a], it.end(a + 1) * factor_of(op)[a]);
  return clip(box, op.inputs[0].shape);
}

std::int64_t pool_boundary(const OpContext& op, int axis, std::int64_t boundary) {
  return ceil_div(boundary, window_of(op).stride[axis - 1]);
}

std::int64_t upsample_boundary(const OpContext& op, int axis, std::int64_t boundary) {
  return boundary * factor_of(op)[axis - 1];
}

std::int64_t downsample_boundary(const OpContext& op, int axis, std::int64_t boundary) {
  return ceil_div(boundary, factor_of(op)[axis - 1]);
}

void differentiate_max_pool(GradientContext& g) {
  const ValueId x = g.node.inputs[0];
  const ValueId arg = g.builder.op("max_pool_argmax", {x}, g.node.attrs, g.node.name + "/argmax");
  const PoolGradAttrs attrs{.window = *window_of(g.node.attrs), .shape = g.builder.type(x).shape};
  g.d_inputs[0] = g.builder.op("max_pool_grad", {arg, g.d_result}, attrs, "grad/" + g.node.name);
}

void differentiate_avg_pool(GradientContext& g) {
  const PoolGradAttrs attrs{.window = *window_of(g.node.attrs), .shape = g.builder.type(g.node.inputs[0]).shape};
  g.d_inputs[0] = g.builder.op("avg_pool_grad", {g.d_result}, attrs, "grad/" + g.node.name);
}

void differentiate_upsample(GradientContext& g) {
  const ResizeAttrs attrs{.factor = attrs_of<ResizeAttrs>(g.node.attrs).factor,
                          .shape = g.builder.type(g.node.inputs[0]).shape};
  g.d_inputs[0] = g.builder.op("upsample_nearest_grad", {g.d_result}, attrs, "grad/" + g.node.name);
}

Dims lifted_factor(const Dims& factor) {
  Dims out;
  for (int a = factor.axes(); a < 3; ++a) out.push_back(1);
  for (auto f : factor) out.push_back(f);
  return out;
}

template <auto kMember>
std::unique_ptr<Kernel> clipped_kernel(const OpContext& op, KernelSet set) {
  // `global` is the un-pooled tensor: the input of a pool, the result of its gradient.
  const Shape& unpooled = std::holds_alternative<PoolAttrs>(op.attrs) ? op.inputs[0].shape : op.result.shape;
  return std::make_unique<FunctionKernel>([fn = pool_kernels(set).*kMember, window = window_of(op).lifted(),
                                           global = lifted(unpooled)](const KernelCall& c) {
    fn(c.inputs[0].lifted(), c.output.lifted(), window, global);
  });
}

std::unique_ptr<Kernel> max_pool_grad_kernel(const OpContext& op, KernelSet set) {
  return std::make_unique<FunctionKernel>(
      [fn = pool_kernels(set).max_pool_grad, window = window_of(op).lifted()](const KernelCall& c) {
        fn(c.inputs[0].lifted(), c.inputs[1].lifted(), c.output.lifted(), window);
      });
}

template <auto kMember>
std::unique_ptr<Kernel> scaled_kernel(const OpContext& op, KernelSet set) {
  return std::make_unique<FunctionKernel>(
      [fn = pool_kernels(set).*kMember, factor = lifted_factor(factor_of(op))](const KernelCall& c) {
        fn(c.inputs[0].lifted(), c.output.lifted(), factor);
      });
}

std::unique_ptr<Kernel> subsample_kernel(const OpContext& op, KernelSet set) {
  return std::make_unique<FunctionKernel>([fn = pool_kernels(set).subsample, factor = lifted_factor(factor_of(op)),
                                           global = lifted(op.inputs[0].shape)](const KernelCall& c) {
    fn(c.inputs[0].lifted(), c.output.lifted(), factor, global);
  });
}

const Window kHalving = {{2, 2, 2}, {2, 2, 2}, {1, 1, 1}, {0, 0, 0}, {0, 0, 0}};
const Dims kTwice = {2, 2, 2};

Shape halved(Shape x) {
  for (int a = 1; a <= 3; ++a) x[a] = ceil_div(x[a], 2);
  return x;
}

Shape doubled(Shape x) {
  for (int a = 1; a <= 3; ++a) x[a] *= 2;
  return x;
}

OpUse pool_sample(DType stored, const Shape& x) { return {PoolAttrs{kHalving}, {{stored, x}}}; }
OpUse max_pool_grad_sample(DType stored, const Shape& x) {
  const Shape y = halved(x);
  return {PoolGradAttrs{.window = kHalving, .shape = doubled(y)}, {{DType::kU8, y}, {stored, y}}};
}
OpUse avg_pool_grad_sample(DType stored, const Shape& x) {
  const Shape y = halved(x);
  return {PoolGradAttrs{.window = kHalving, .shape = doubled(y)}, {{stored, y}}};
}
OpUse upsample_sample(DType stored, const Shape& x) {
  return {ResizeAttrs{.factor = kTwice, .shape = doubled(x)}, {{stored, x}}};
}
OpUse down_sample(DType stored, const Shape& x) {
  return {ResizeAttrs{.factor = kTwice, .shape = x}, {{stored, doubled(x)}}};
}

}  // namespace

void add_pool_ops(OpTable& table) {
  table.add({.name = "max_pool",
             .attributes = PoolAttrs{},
             .infer = infer_pool,
             .needed = pool_needs,
             .boundary = pool_boundary,
             .differentiate = differentiate_max_pool,
             .kernel = clipped_kernel<&PoolKernels::max_pool>,
             .sample = {.memory = pool_sample}});
  table.add({.name = "max_pool_argmax",
             .attributes = PoolAttrs{},
             .infer = infer_argmax,
             .needed = pool_needs,
             .boundary = pool_boundary,
             .kernel = clipped_kernel<&PoolKernels::max_pool_argmax>,
             .sample = {.memory = pool_sample}});
  table.add({.name = "max_pool_grad",
             .attributes = PoolGradAttrs{},
             .infer = infer_max_pool_grad,
             .needed = pool_grad_needs,
             .kernel = max_pool_grad_kernel,
             .sample = {.memory = max_pool_grad_sample}});
  table.add({.name = "avg_pool",
             .attributes = PoolAttrs{},
             .infer = infer_pool,
             .needed = pool_needs,
             .boundary = pool_boundary,
             .differentiate = differentiate_avg_pool,
             .kernel = clipped_kernel<&PoolKernels::avg_pool>,
             .sample = {.memory = pool_sample}});
  table.add({.name = "avg_pool_grad",
             .attributes = PoolGradAttrs{},
             .infer = infer_shaped<PoolGradAttrs>,
             .needed = pool_grad_needs,
             .kernel = clipped_kernel<&PoolKernels::avg_pool_grad>,
             .sample = {.memory = avg_pool_grad_sample}});
  table.add({.name = "upsample_nearest",
             .attributes = ResizeAttrs{},
             .infer = infer_upsample,
             .needed = upsample_needs,
             .boundary = upsample_boundary,
             .differentiate = differentiate_upsample,
             .kernel = scaled_kernel<&PoolKernels::upsample_nearest>,
             .sample = {.memory = upsample_sample}});
  table.add({.name = "subsample",
             .attributes = ResizeAttrs{},
             .infer = infer_subsample,
             .needed = subsample_needs,
             .boundary = downsample_boundary,
             .kernel = subsample_kernel,
             .sample = {.memory = down_sample}});
  table.add({.name = "upsample_nearest_grad",
             .attributes = ResizeAttrs{},
             .infer = infer_shaped<ResizeAttrs>,
             .needed = upsample_grad_needs,
             .boundary = downsample_boundary,
             .kernel = scaled_kernel<&PoolKernels::upsample_nearest_grad>,
             .sample = {.memory = down_sample}});
}

}  // namespace voxshard
