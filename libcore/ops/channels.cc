// Concatenation along any axis and its gradient, the slice. A cut axis is no special case: of each input the
// intersection with the result's box, moved by the input's offset, is needed.
//
//   concat {a, b, ...} axis        slice {x} axis, first, shape
#include "libcore/graph/builder.h"
#include "libcore/kernels/pointwise.h"
#include "libcore/ops/box_rules.h"
#include "libcore/ops/op_table.h"

namespace voxshard {
namespace {

Box moved(Box box, int axis, std::int64_t by) {
  box.begin[axis] += by;
  return box;
}

TensorType infer_concat(const Attributes& attrs, std::span<const TensorType> in) {
  const int axis = attrs_of<ConcatAttrs>(attrs).axis;
  require(!in.empty() && axis >= 0 && axis < in[0].shape.axes(), "expected inputs and one of their axes");
  TensorType result = in[0];
  for (std::size_t i = 1; i < in.size(); ++i) {
    Shape expected = in[0].shape;
    require(in[i].shape.axes() == expected.axes() && in[i].dtype == in[0].dtype,
            "expected inputs of one rank and type");
    expected[axis] = in[i].shape[axis];
    require_shape(in, i, expected);
    result.shape[axis] += in[i].shape[axis];
  }
  return result;
}

TensorType infer_slice(const Attributes& attrs, std::span<const TensorType> in) {
  const auto& [axis, first, shape] = attrs_of<SliceAttrs>(attrs);
  require(in.size() == 1 && shape.axes() == in[0].shape.axes(), "expected one input and `shape` of its rank");
  require(axis >= 0 && axis < shape.axes() && first >= 0 && first + shape[axis] <= in[0].shape[axis],
          "the slice reaches beyond the input");
  return {in[0].dtype, shape};
}

std::int64_t offset_of(std::span<const TensorType> inputs, int axis, int input) {
  std::int64_t offset = 0;
  for (int i = 0; i < input; ++i) offset += inputs[i].shape[axis];
  return offset;
}

Box concat_needs(const OpContext& op, int input, const Box& it) {
  const int axis = attrs_of<ConcatAttrs>(op.attrs).axis;
  return clip(moved(it, axis, -offset_of(op.inputs, axis, input)), op.inputs[input].shape);
}

Box slice_needs(const OpContext& op, int, const Box& it) {
  const auto& slice = attrs_of<SliceAttrs>(op.attrs);
  return moved(it, slice.axis, slice.first);
}

void differentiate_concat(GradientContext& g) {
  const int axis = attrs_of<ConcatAttrs>(g.node.attrs).axis;
  std::int64_t offset = 0;
  for (std::size_t i = 0; i < g.node.inputs.size(); ++i) {
    const Shape& shape = g.builder.type(g.node.inputs[i]).shape;
    if (g.wanted[i])
      g.d_inputs[i] = g.builder.op("slice", {g.d_result}, SliceAttrs{.axis = axis, .first = offset, .shape = shape},
                                   "grad/" + g.node.name + "/" + std::to_string(i));
    offset += shape[axis];
  }
}

std::unique_ptr<Kernel> concat_kernel(const OpContext& op, KernelSet set) {
  const int axis = attrs_of<ConcatAttrs>(op.attrs).axis;
  std::vector<std::int64_t> offsets;
  for (int i = 0; i < static_cast<int>(op.inputs.size()); ++i) offsets.push_back(offset_of(op.inputs, axis, i));
  return std::make_unique<FunctionKernel>([fn = pointwise_kernels(set).convert, offsets, axis](const KernelCall& c) {
    for (std::size_t i = 0; i < c.inputs.size(); ++i) {
      TensorView source = c.inputs[i];
      if (source.box.empty()) continue;
      source.box = moved(source.box, axis, offsets[i]);
      fn(source, c.output.sub(intersect(source.box, c.output.box)));
    }
  });
}

std::unique_ptr<Kernel> slice_kernel(const OpContext& op, KernelSet set) {
  return std::make_unique<FunctionKernel>(
      [fn = pointwise_kernels(set).convert, slice = attrs_of<SliceAttrs>(op.attrs)](const KernelCall& c) {
        TensorView source = c.inputs[0];
        source.box = moved(source.box, slice.axis, -slice.first);
        fn(source, c.output);
      });
}

OpUse concat_sample(DType stored, const Shape& x) {
  return {ConcatAttrs{.axis = x.axes() - 1}, {{stored, x}, {stored, x}}};
}
OpUse slice_sample(DType stored, const Shape& x) {
  Shape wide = x;
  wide[x.axes() - 1] *= 2;
  return {SliceAttrs{.axis = x.axes() - 1, .first = x.back(), .shape = x}, {{stored, wide}}};
}

}  // namespace

void add_channel_ops(OpTable& table) {
  table.add({.name = "concat",
             .attributes = ConcatAttrs{},
             .infer = infer_concat,
             .needed = concat_needs,
             .differentiate = differentiate_concat,
             .kernel = concat_kernel,
             .sample = {.memory = concat_sample}});
  table.add({.name = "slice",
             .attributes = SliceAttrs{},
             .infer = infer_slice,
             .needed = slice_needs,
             .kernel = slice_kernel,
             .sample = {.memory = slice_sample}});
}

}  // namespace voxshard
