// Convolution and its two gradients. They are closed under differentiation: a transposed convolution is conv_input_grad
// used forward, and its gradients are conv and conv_weight_grad with the roles of x and y exchanged.
//
//   conv             {x..., w[, bias]} window, dtype, parts          -> y
//   conv_input_grad  {d_y, w[, bias]}  window, shape, dtype, first_channel -> d_x of `shape`
//   conv_weight_grad {x, d_y}          window                        -> d_w (K..., Ci, Co), partial where d_y is cut
//
// A convolution of a concat reads its `parts` inputs side by side in the channels, so that the concat never exists.
// Each part has its own input gradient, which computes only the channels from `first_channel` on, and its own weight
// gradient.
#include "libcore/graph/builder.h"
#include "libcore/kernels/conv_table.h"
#include "libcore/ops/box_rules.h"
#include "libcore/ops/conv_samples.h"
#include "libcore/ops/op_table.h"

namespace voxshard {
namespace {

void require_window(const Window& w, const TensorType& x) {
  require(w.axes() >= 2 && w.axes() <= 3,
          "expected a window over 2 or 3 spatial axes, got " + std::to_string(w.axes()));
  require(x.shape.axes() == w.axes() + 2,
          "expected a tensor of rank " + std::to_string(w.axes() + 2) + ", got shape " + to_string(x.shape));
  for (int a = 0; a < w.axes(); ++a)
    require(w.kernel[a] > 0 && w.stride[a] > 0 && w.dilation[a] > 0 && w.pad_lo[a] >= 0 && w.pad_hi[a] >= 0,
            "kernel, stride and dilation must be positive and padding not negative");
}

std::size_t parts_of(const Attributes& attrs) { return static_cast<std::size_t>(attrs_of<ConvAttrs>(attrs).parts); }

TensorType infer_conv(const Attributes& given, std::span<const TensorType> in) {
  const auto& attrs = attrs_of<ConvAttrs>(given);
  require(attrs.parts >= 1, "expected at least one x");
  const std::size_t parts = parts_of(given);
  require(in.size() == parts + 1 || in.size() == parts + 2, "expected x, weights and optionally a bias");
  require_window(attrs.window, in[0]);
  std::int64_t channels = 0;
  for (std::size_t i = 0; i < parts; ++i) {
    Shape expected = in[0].shape;
    expected[expected.axes() - 1] = in[i].shape.back();
    require_shape(in, i, expected);
    channels += in[i].shape.back();
  }
  const std::int64_t out = in[parts].shape.empty() ? 0 : in[parts].shape.back();
  require_shape(in, parts, weight_shape(attrs.window, channels, out));
  if (in.size() == parts + 2) require_shape(in, parts + 1, {out});
  Shape shape = in[0].shape;
  for (int a = 0; a < attrs.window.axes(); ++a) shape[a + 1] = attrs.window.output_extent(a, shape[a + 1]);
  shape[shape.axes() - 1] = out;
  return {attrs.dtype, shape};
}

TensorType infer_input_grad(const Attributes& given, std::span<const TensorType> in) {
  const auto& attrs = attrs_of<ConvInputGradAttrs>(given);
  require(in.size() == 2 || in.size() == 3, "expected d_y, weights and optionally a bias");
  require_window(attrs.window, in[0]);
  require(attrs.shape.axes() == in[0].shape.axes(), "expected `shape` of the result with the rank of d_y");
  const std::int64_t channels = in[1].shape.axes() >= 2 ? in[1].shape[in[1].shape.axes() - 2] : 0;
  require(attrs.first_channel >= 0 && attrs.first_channel + attrs.shape.back() <= channels,
          "channels " + std::to_string(attrs.first_channel) + " to " +
              std::to_string(attrs.first_channel + attrs.shape.back()) + " are not in weights of " +
              std::to_string(channels) + " input channels");
  require_shape(in, 1, weight_shape(attrs.window, channels, in[0].shape.back()));
  if (in.size() == 3) require_shape(in, 2, {attrs.shape.back()});
  for (int a = 0; a < attrs.window.axes(); ++a)
    require(attrs.window.output_extent(a, attrs.shape[a + 1]) == in[0].shape[a + 1],
            "a window over " + to_string(attrs.shape) + " does not give " + to_string(in[0].shape));
  return {attrs.dtype, attrs.shape};
}

TensorType infer_weight_grad(const Attributes& attrs, std::span<const TensorType> in) {
  const Window& window = attrs_of<ConvWeightGradAttrs>(attrs).window;
  require(in.size() == 2, "expected x and d_y");
  require_window(window, in[0]);
  return {in[0].dtype == DType::kF64 ? DType::kF64 : DType::kF32,
          weight_shape(window, in[0].shape.back(), in[1].shape.back())};
}

Box conv_needs(const OpContext& op, int input, const Box& it) {
  const Shape& shape = op.inputs[input].shape;
  return input >= attrs_of<ConvAttrs>(op.attrs).parts ? Box::whole(shape)
                                                      : window_reads(window_of(op), it, shape.back());
}

Box input_grad_needs(const OpContext& op, int input, const Box& it) {
  if (input > 0) return Box::whole(op.inputs[input].shape);
  return windows_reading(window_of(op), it, op.inputs[0].shape.back());
}

/// Channels of d_y map to the same channels of d_w.
Box weight_grad_adds_to(const OpContext& op, const Box& it) {
  Box box = Box::whole(op.result.shape);
  box.set(box.axes() - 1, it.begin[it.axes() - 1], it.end(it.axes() - 1));
  return box;
}

Box weight_grad_needs(const OpContext& op, int input, const Box& it) {
  return input == 1 ? it : window_reads(window_of(op), it, op.inputs[0].shape.back());
}

std::int64_t strided_boundary(const OpContext& op, int axis, std::int64_t boundary) {
  return ceil_div(boundary, window_of(op).stride[axis - 1]);
}

std::int64_t unstrided_boundary(const OpContext& op, int axis, std::int64_t boundary) {
  return boundary * window_of(op).stride[axis - 1];
}

double voxels(const Box& box) {
  return static_cast<double>(box.count() / std::max<std::int64_t>(1, box.extent.back()));
}

Work products(double count, double rows, std::int64_t inner, std::int64_t columns) {
  const Products p{count, rows, static_cast<double>(inner), static_cast<double>(columns)};
  return {.flops = 2 * p.count * p.rows * p.inner * p.columns, .products = p};
}

Work conv_work(const OpContext& op, const Box& it) {
  const Shape& weights = op.inputs[parts_of(op.attrs)].shape;
  Work work =
      products(static_cast<double>(window_of(op).volume()), voxels(it), weights[weights.axes() - 2], it.extent.back());
  work.bytes = static_cast<double>(it.count() * dtype_bytes(op.result.dtype));
  for (int i = 0; i < static_cast<int>(op.inputs.size()); ++i)
    work.bytes += static_cast<double>(conv_needs(op, i, it).count() * dtype_bytes(op.inputs[i].dtype));
  return work;
}

Work input_grad_work(const OpContext& op, const Box& it) {
  const double taps =
      static_cast<double>(window_of(op).volume()) / static_cast<double>(element_count(window_of(op).stride));
  Work work = products(taps, voxels(it), op.inputs[0].shape.back(), it.extent.back());
  work.bytes = static_cast<double>(input_grad_needs(op, 0, it).count() * dtype_bytes(op.inputs[0].dtype) +
                                   it.count() * dtype_bytes(op.result.dtype) + op.inputs[1].bytes());
  return work;
}

Work weight_grad_work(const OpContext& op, const Box& it) {
  // Voxels are contracted: the rows of the product are the input's channels.
  const std::int64_t ci = op.inputs[0].shape.back(), co = it.extent.back();
  Work work = products(static_cast<double>(window_of(op).volume()), static_cast<double>(ci),
                       static_cast<std::int64_t>(voxels(it)), co);
  work.bytes = static_cast<double>(weight_grad_needs(op, 0, it).count() * dtype_bytes(op.inputs[0].dtype) +
                                   it.count() * dtype_bytes(op.inputs[1].dtype) + op.result.bytes());
  return work;
}

void differentiate_conv(GradientContext& g) {
  const std::size_t parts = parts_of(g.node.attrs);
  const Window& window = attrs_of<ConvAttrs>(g.node.attrs).window;
  const ValueId w = g.node.inputs[parts];
  const std::string name = "grad/" + g.node.name;
  auto numbered = [&](std::size_t part) { return parts > 1 ? std::to_string(part) : std::string(); };
  Builder& b = g.builder;
  if (g.wanted[parts]) {
    std::vector<ValueId> d_w;
    for (std::size_t i = 0; i < parts; ++i)
      d_w.push_back(b.op("conv_weight_grad", {g.node.inputs[i], g.d_result}, ConvWeightGradAttrs{window},
                         name + "/weights" + numbered(i)));
    g.d_inputs[parts] =
        parts == 1 ? d_w[0] : b.op("concat", d_w, ConcatAttrs{.axis = window.axes()}, name + "/weights");
  }
  std::int64_t first = 0;
  for (std::size_t i = 0; i < parts; ++i) {
    const TensorType& x = b.type(g.node.inputs[i]);
    const ConvInputGradAttrs attrs{.window = window, .shape = x.shape, .first_channel = first, .dtype = x.dtype};
    first += x.shape.back();
    if (g.wanted[i]) g.d_inputs[i] = b.op("conv_input_grad", {g.d_result, w}, attrs, name + "/input" + numbered(i));
  }
  if (g.node.inputs.size() > parts + 1 && g.wanted[parts + 1])
    g.d_inputs[parts + 1] = b.op("channel_sum", {g.d_result}, {}, name + "/bias");
}

void differentiate_input_grad(GradientContext& g) {
  const ValueId d_y = g.node.inputs[0], w = g.node.inputs[1];
  const Window& window = attrs_of<ConvInputGradAttrs>(g.node.attrs).window;
  Builder& b = g.builder;
  require(b.type(w).shape[b.type(w).shape.axes() - 2] == g.node.type.shape.back(),
          "[" + g.node.name + "] an input gradient of some of the channels is not differentiated again");
  if (g.wanted[0])
    g.d_inputs[0] = b.op("conv", {g.d_result, w}, ConvAttrs{.window = window, .dtype = b.type(d_y).dtype},
                         "grad/" + g.node.name + "/input");
  if (g.wanted[1])
    g.d_inputs[1] =
        b.op("conv_weight_grad", {g.d_result, d_y}, ConvWeightGradAttrs{window}, "grad/" + g.node.name + "/weights");
  if (g.node.inputs.size() > 2 && g.wanted[2])
    g.d_inputs[2] = b.op("channel_sum", {g.d_result}, {}, "grad/" + g.node.name + "/bias");
}

template <class Family>
std::int64_t slices(const OpContext& op) {
  return attrs_of<Family>(op.attrs).slices;
}

std::vector<std::int64_t> part_channels(const OpContext& op) {
  std::vector<std::int64_t> channels;
  for (std::size_t i = 0; i < parts_of(op.attrs); ++i) channels.push_back(op.inputs[i].shape.back());
  return channels;
}

ConvUse conv_use(const OpContext& op) {
  return {.pass = ConvPass::kForward,
          .window = window_of(op),
          .weights = op.inputs[parts_of(op.attrs)].shape,
          .over = op.result.shape,
          .dtype = op.inputs[0].dtype,
          .parts = parts_of(op.attrs),
          .part_channels = part_channels(op),
          .slices = slices<ConvAttrs>(op)};
}

ConvUse input_grad_use(const OpContext& op) {
  return {.pass = ConvPass::kInputGrad,
          .window = window_of(op),
          .weights = op.inputs[1].shape,
          .over = op.result.shape,
          .dtype = op.inputs[0].dtype,
          .channel = attrs_of<ConvInputGradAttrs>(op.attrs).first_channel,
          .channels = op.result.shape.back(),
          .slices = slices<ConvInputGradAttrs>(op)};
}

ConvUse weight_grad_use(const OpContext& op) {
  return {.pass = ConvPass::kWeightGrad,
          .window = window_of(op),
          .weights = op.result.shape,
          .over = op.inputs[1].shape,
          .dtype = op.inputs[0].dtype,
          .slices = slices<ConvWeightGradAttrs>(op)};
}

template <ConvUse (*use)(const OpContext&)>
Dims grain(const OpContext& op) {
  return conv_grain(kernel_of(op.attrs), use(op));
}

template <class Family, ConvUse (*use)(const OpContext&)>
Attributes choose(const OpContext& op, Convolution from) {
  Family attrs = attrs_of<Family>(op.attrs);
  attrs.computed_by = choose_conv(use(op), from);
  attrs.slices = conv_slices(attrs.computed_by, use(op));
  return attrs;
}

template <ConvUse (*use)(const OpContext&)>
bool runs(const OpContext& op) {
  return conv_runs(kernel_of(op.attrs), use(op));
}

template <ConvUse (*use)(const OpContext&)>
std::unique_ptr<Kernel> kernel(const OpContext& op, KernelSet set) {
  return make_conv(set, kernel_of(op.attrs), use(op));
}

}  // namespace

void add_conv_ops(OpTable& table) {
  table.add({.name = "conv",
             .attributes = ConvAttrs{},
             .infer = infer_conv,
             .needed = conv_needs,
             .boundary = strided_boundary,
             .differentiate = differentiate_conv,
             .grain = grain<conv_use>,
             .slices = slices<ConvAttrs>,
             .packed = [](const OpContext& op) { return static_cast<int>(parts_of(op.attrs)); },
             .work = conv_work,
             .choose = choose<ConvAttrs, conv_use>,
             .runs = runs<conv_use>,
             .kernel = kernel<conv_use>,
             .sample = {.products = conv_sample}});
  table.add({.name = "conv_input_grad",
             .attributes = ConvInputGradAttrs{},
             .infer = infer_input_grad,
             .needed = input_grad_needs,
             .boundary = unstrided_boundary,
             .differentiate = differentiate_input_grad,
             .grain = grain<input_grad_use>,
             .slices = slices<ConvInputGradAttrs>,
             .packed = [](const OpContext&) { return 1; },
             .work = input_grad_work,
             .choose = choose<ConvInputGradAttrs, input_grad_use>,
             .runs = runs<input_grad_use>,
             .kernel = kernel<input_grad_use>,
             .sample = {.products = input_grad_sample}});
  table.add({.name = "conv_weight_grad",
             .driver = 1,
             .attributes = ConvWeightGradAttrs{},
             .infer = infer_weight_grad,
             .needed = weight_grad_needs,
             .adds_to = weight_grad_adds_to,
             .grain = grain<weight_grad_use>,
             .slices = slices<ConvWeightGradAttrs>,
             .work = weight_grad_work,
             .choose = choose<ConvWeightGradAttrs, weight_grad_use>,
             .runs = runs<weight_grad_use>,
             .kernel = kernel<weight_grad_use>,
             .addend = [](std::span<const double> rms) { return rms[0] * rms[1]; },
             .sample = {.products = weight_grad_sample}});
}

}  // namespace voxshard
