#include "libcore/ops/conv_samples.h"

namespace voxshard {
namespace {

/// D, H, W that give a sample its rows.
Dims spatial_of(const ProductSample& at) {
  std::int64_t height = 1;
  while (height * height * 4 <= at.rows) height *= 2;
  return {ceil_div(at.rows, height), height, at.row};
}

/// The shape of the input, with `channels`, that convolutions to `y` voxels read.
Shape read_by(const Window& window, const Dims& y, std::int64_t channels) {
  Shape x{1};
  for (int a = 0; a < y.axes(); ++a) x.push_back((y[a] - 1) * window.stride[a] + window.kernel[a]);
  x.push_back(channels);
  return x;
}

}  // namespace

Shape weight_shape(const Window& window, std::int64_t in, std::int64_t out) {
  Shape shape = window.kernel;
  shape.push_back(in);
  shape.push_back(out);
  return shape;
}

OpUse conv_sample(const ProductSample& at) {
  return {
      ConvAttrs{.window = at.window, .dtype = at.stored, .computed_by = at.kernel},
      {{at.stored, read_by(at.window, spatial_of(at), at.in)}, {at.stored, weight_shape(at.window, at.in, at.out)}}};
}

/// Iterates over the inside of a wider x, such that d_y holds all windows that read it.
OpUse input_grad_sample(const ProductSample& at) {
  const Dims spatial = spatial_of(at);
  Shape x{1}, d_y{1};
  for (int a = 0; a < spatial.axes(); ++a) {
    x.push_back(spatial[a] + 2 * (at.window.kernel[a] - at.window.stride[a]));
    d_y.push_back(at.window.output_extent(a, x[a + 1]));
  }
  x.push_back(at.out);
  d_y.push_back(at.in);
  Box iteration = Box::whole(x);
  for (int a = 0; a < spatial.axes(); ++a) {
    const std::int64_t margin = at.window.kernel[a] - at.window.stride[a];
    iteration.set(a + 1, margin, margin + spatial[a]);
  }
  return {ConvInputGradAttrs{.window = at.window, .shape = x, .dtype = at.stored, .computed_by = at.kernel},
          {{at.stored, d_y}, {at.stored, weight_shape(at.window, at.out, at.in)}},
          iteration};
}

OpUse weight_grad_sample(const ProductSample& at) {
  Shape y{1};
  for (auto e : spatial_of(at)) y.push_back(e);
  y.push_back(at.out);
  return {ConvWeightGradAttrs{at.window, at.kernel},
          {{at.stored, read_by(at.window, spatial_of(at), at.in)}, {at.stored, y}}};
}

}  // namespace voxshard
