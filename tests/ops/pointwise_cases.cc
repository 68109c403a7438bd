// Ops element by element, concat and slice along the channels and along cut axes, sums.
#include "tests/ops/op_cases.h"

namespace voxshard::test {

std::vector<OpCase> pointwise_cases() {
  const Shape volume{2, 7, 5, 6, 3}, image{3, 9, 7, 5};
  std::vector<OpCase> cases;
  for (const Shape& x : {volume, image}) {
    const std::string label = x.axes() == 5 ? "3-D" : "2-D";
    cases.push_back(
        {.op = "leaky_relu", .label = label, .inputs = {cut_input(x)}, .attrs = ActivationAttrs{.slope = 0.25}});
    cases.push_back({.op = "leaky_relu_grad",
                     .label = label,
                     .inputs = {cut_input(x), cut_input(x)},
                     .attrs = ActivationAttrs{.slope = 0.25}});
    cases.push_back({.op = "dropout",
                     .label = label,
                     .inputs = {cut_input(x), parameter({2}, Values::kPositive, DType::kI32)},
                     .attrs = DropoutAttrs{.rate = 0.5, .stream = 7}});
    cases.push_back({.op = "add", .label = label, .inputs = {cut_input(x), cut_input(x)}});
    cases.push_back({.op = "add", .label = label + " with a parameter", .inputs = {cut_input(x), parameter(x)}});
    cases.push_back({.op = "scale", .label = label, .inputs = {cut_input(x)}, .attrs = ScaleAttrs{.by = 0.5}});
    cases.push_back({.op = "convert",
                     .label = label,
                     .inputs = {cut_input(x, Values::kNormal)},
                     .attrs = ConvertAttrs{.dtype = DType::kBF16}});
    cases.push_back({.op = "one_like", .label = label, .inputs = {cut_input(x)}});
    cases.push_back(
        {.op = "broadcast_like", .label = label, .inputs = {parameter({1}, Values::kPositive), cut_input(x)}});
    cases.push_back(
        {.op = "lerp", .label = label, .inputs = {cut_input(x), cut_input(x)}, .attrs = LerpAttrs{.momentum = 0.75}});
    cases.push_back({.op = "channel_sum", .label = label, .inputs = {cut_input(x)}});
    cases.push_back({.op = "sum_all", .label = label, .inputs = {cut_input(x)}});
  }
  cases.push_back({.op = "convert",
                   .label = "bf16 to f32",
                   .inputs = {cut_input(image, Values::kNormal, DType::kBF16)},
                   .attrs = ConvertAttrs{.dtype = DType::kF32}});
  cases.push_back({.op = "add",
                   .label = "bf16",
                   .inputs = {cut_input(volume, Values::kIntegers, DType::kBF16),
                              cut_input(volume, Values::kIntegers, DType::kBF16)}});
  cases.push_back({.op = "lerp",
                   .label = "of two states",
                   .inputs = {parameter({5, 2}), parameter({5, 2})},
                   .attrs = LerpAttrs{.momentum = 0.75}});
  for (int axis = 0; axis < 5; ++axis) {
    Shape other = volume, part = volume;
    other[axis] += 3;
    part[axis] = 1;
    const std::string label = "along axis " + std::to_string(axis);
    cases.push_back({.op = "concat",
                     .label = label,
                     .inputs = {cut_input(volume), cut_input(other)},
                     .attrs = ConcatAttrs{.axis = axis}});
    cases.push_back({.op = "slice",
                     .label = label,
                     .inputs = {cut_input(volume)},
                     .attrs = SliceAttrs{.axis = axis, .first = 1, .shape = part}});
  }
  cases.push_back({.op = "concat",
                   .label = "of three along a cut axis of an image",
                   .inputs = {cut_input({3, 2, 7, 5}), cut_input({3, 9, 7, 5}), cut_input({3, 1, 7, 5})},
                   .attrs = ConcatAttrs{.axis = 1}});
  cases.push_back({.op = "slice",
                   .label = "most of a cut axis of an image",
                   .inputs = {cut_input(image)},
                   .attrs = SliceAttrs{.axis = 2, .first = 2, .shape = {3, 9, 5, 5}}});
  return cases;
}

}  // namespace voxshard::test
