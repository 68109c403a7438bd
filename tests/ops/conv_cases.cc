// Convolution cases: every kernel extent from 1 to 4, strides, dilation, asymmetric padding, the 7x7 stride 2 of
// ResNet; each as a forward, an input-gradient and a weight-gradient op on small integers, where any order of adding is
// exact.
#include "tests/ops/op_cases.h"

namespace voxshard::test {
namespace {

struct ConvGeometry {
  std::string label;
  Shape x;  // its channels are the input's
  Window window;
  std::int64_t out = 3;
};

std::vector<ConvGeometry> conv_geometries() {
  const Shape volume{2, 7, 5, 6, 2}, image{3, 11, 9, 2};
  return {{"3-D kernel 1", volume, window(3, 1, 1, 1, 0, 0)},
          {"3-D kernel 2", volume, window(3, 2, 1, 1, 0, 1)},
          {"3-D kernel 3", volume, window(3, 3, 1, 1, 1, 1)},
          {"3-D kernel 4", volume, window(3, 4, 1, 1, 1, 2)},
          {"3-D kernel 2 stride 2", volume, same(volume, 2, 2)},
          {"3-D kernel 3 stride 2", volume, same(volume, 3, 2)},
          {"3-D kernel 3 dilation 2", volume, window(3, 3, 1, 2, 2, 2)},
          {"3-D kernel 3 padded low only", volume, window(3, 3, 1, 1, 2, 0)},
          {"3-D kernel 3 unpadded", volume, window(3, 3, 1, 1, 0, 0)},
          {"3-D kernel 1 stride 3", volume, window(3, 1, 3, 1, 0, 0)},
          {"2-D kernel 3", image, window(2, 3, 1, 1, 1, 1)},
          {"2-D kernel 7 stride 2", image, same(image, 7, 2)},
          {"2-D kernel 7 stride 2 padded 3/3", image, window(2, 7, 2, 1, 3, 3)},
          {"2-D kernel 4 stride 2", image, window(2, 4, 2, 1, 1, 1)},
          {"2-D kernel 3 dilation 3 stride 2", image, same(image, 3, 2, 3)},
          {"2-D unlike axes", image, {{1, 4}, {1, 3}, {1, 1}, {0, 2}, {0, 1}}}};
}

Shape weights_of(const ConvGeometry& g) {
  Shape shape = g.window.kernel;
  shape.push_back(g.x.back());
  shape.push_back(g.out);
  return shape;
}

void add_three(std::vector<OpCase>& cases, const ConvGeometry& g, DType dtype) {
  const Shape y = outputs_of(g.window, g.x, g.out);
  const OpInput w = parameter(weights_of(g), Values::kIntegers, dtype);
  const OpInput x = cut_input(g.x, Values::kIntegers, dtype), d_y = cut_input(y, Values::kIntegers, dtype);
  cases.push_back({.op = "conv",
                   .label = g.label,
                   .inputs = {x, w, parameter({g.out})},
                   .attrs = ConvAttrs{.window = g.window, .dtype = dtype}});
  cases.push_back({.op = "conv_input_grad",
                   .label = g.label,
                   .inputs = {d_y, w},
                   .attrs = ConvInputGradAttrs{.window = g.window, .shape = g.x, .dtype = dtype},
                   .earlier = g.x});
  cases.push_back({.op = "conv_weight_grad",
                   .label = g.label,
                   .inputs = {x, d_y},
                   .attrs = ConvWeightGradAttrs{.window = g.window}});
}

}  // namespace

std::vector<OpCase> conv_cases() {
  std::vector<OpCase> cases;
  for (const ConvGeometry& g : conv_geometries()) add_three(cases, g, DType::kF32);
  add_three(cases, {"3-D kernel 3 bf16", {2, 7, 5, 6, 2}, window(3, 3, 1, 1, 1, 1)}, DType::kBF16);
  const Shape up{2, 13, 10, 11, 2}, low{2, 7, 5, 6, 3};
  Window w = window(3, 2, 2, 1, 0, 0);
  w.pad_hi = {1, 0, 1};
  cases.push_back({.op = "conv_input_grad",
                   .label = "as a transposed convolution to 2n - 1, 2n, 2n - 1 with a bias",
                   .inputs = {cut_input(low), parameter({2, 2, 2, 2, 3}), parameter({2})},
                   .attrs = ConvInputGradAttrs{.window = w, .shape = up}});
  cases.push_back({.op = "conv_input_grad",
                   .label = "as a transposed convolution to 2n + 1, 2n, 2n + 1 with a bias",
                   .inputs = {cut_input(low), parameter({2, 2, 2, 2, 3}), parameter({2})},
                   .attrs = ConvInputGradAttrs{.window = window(3, 2, 2, 1, 0, 0), .shape = {2, 15, 10, 13, 2}}});
  cases.push_back(
      {.op = "conv",
       .label = "of a concat of 2 + 3 channels",
       .inputs = {cut_input({2, 7, 5, 6, 2}), cut_input({2, 7, 5, 6, 3}), parameter({3, 3, 3, 5, 4}), parameter({4})},
       .attrs = ConvAttrs{.window = window(3, 3, 1, 1, 1, 1), .parts = 2}});
  cases.push_back(
      {.op = "conv_input_grad",
       .label = "of the last 3 of 5 channels",
       .inputs = {cut_input({2, 7, 5, 6, 4}), parameter({3, 3, 3, 5, 4})},
       .attrs = ConvInputGradAttrs{.window = window(3, 3, 1, 1, 1, 1), .shape = {2, 7, 5, 6, 3}, .first_channel = 2}});
  cases.push_back({.op = "conv",
                   .label = "without a bias",
                   .inputs = {cut_input({1, 7, 5, 6, 2}), parameter({3, 3, 3, 2, 3})},
                   .attrs = ConvAttrs{.window = window(3, 3, 1, 1, 1, 1)},
                   .margins = false});
  return cases;
}

}  // namespace voxshard::test
