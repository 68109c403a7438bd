// Element by element, in double, any number of axes and any types; sums in the row-major order of the view's box.
#include "libcore/kernels/pointwise.h"

#include <vector>

#include "libcore/tensor/rows.h"

namespace voxshard::reference {
namespace {

/// y = op(x) for y.box.
template <class Op>
void map(const TensorView& x, const TensorView& y, Op op) {
  for_each_row(y.box, [&](const Dims& at) {
    const std::int64_t from = offset_at(x, at), to = offset_at(y, at);
    for (std::int64_t c = 0; c < row_count(y.box); ++c) store(y, to + c, op(load(x, from + c)));
  });
}

/// y = op(a, b) for y.box.
template <class Op>
void map(const TensorView& a, const TensorView& b, const TensorView& y, Op op) {
  for_each_row(y.box, [&](const Dims& at) {
    const std::int64_t left = offset_at(a, at), right = offset_at(b, at), to = offset_at(y, at);
    for (std::int64_t c = 0; c < row_count(y.box); ++c) store(y, to + c, op(load(a, left + c), load(b, right + c)));
  });
}

void leaky_relu(const TensorView& x, const TensorView& y, double slope) {
  map(x, y, [=](double v) { return v > 0 ? v : slope * v; });
}

void leaky_relu_grad(const TensorView& x, const TensorView& d_y, const TensorView& d_x, double slope) {
  map(x, d_y, d_x, [=](double v, double grad) { return v > 0 ? grad : slope * grad; });
}

void dropout(const TensorView& x, const TensorView& y, const DropoutMask& mask) {
  for_each_row(y.box, [&](const Dims& at) {
    std::int64_t index = 0;
    for (int a = 0; a < at.axes(); ++a) index = index * mask.shape[a] + at[a];
    const std::int64_t from = offset_at(x, at), to = offset_at(y, at);
    for (std::int64_t c = 0; c < row_count(y.box); ++c)
      store(y, to + c, mask.keeps(index + c) ? load(x, from + c) / (1 - mask.rate) : 0);
  });
}

void add(const TensorView& a, const TensorView& b, const TensorView& y) {
  map(a, b, y, [](double u, double v) { return u + v; });
}

void scale(const TensorView& x, const TensorView& y, double factor) {
  map(x, y, [=](double v) { return factor * v; });
}

void lerp(const TensorView& a, const TensorView& b, const TensorView& y, double m) {
  map(a, b, y, [=](double u, double v) { return m * u + (1 - m) * v; });
}

void convert(const TensorView& src, const TensorView& dst) {
  map(src, dst, [](double v) { return v; });
}

void channel_sum(const TensorView& x, const TensorView& sums) {
  std::vector<double> total(static_cast<std::size_t>(sums.count()), 0.0);
  for_each_row(x.box, [&](const Dims& at) {
    const std::int64_t from = offset_at(x, at);
    for (std::size_t c = 0; c < total.size(); ++c) total[c] += load(x, from + static_cast<std::int64_t>(c));
  });
  store_row(sums, 0, sums.count(), total.data());
}

void sum_all(const TensorView& x, const TensorView& y) {
  double total = 0;
  for_each_row(x.box, [&](const Dims& at) {
    const std::int64_t from = offset_at(x, at);
    for (std::int64_t c = 0; c < row_count(x.box); ++c) total += load(x, from + c);
  });
  store(y, 0, total);
}

}  // namespace

constinit const PointwiseKernels pointwise = {.leaky_relu = leaky_relu,
                                              .leaky_relu_grad = leaky_relu_grad,
                                              .dropout = dropout,
                                              .add = add,
                                              .scale = scale,
                                              .lerp = lerp,
                                              .convert = convert,
                                              .channel_sum = channel_sum,
                                              .sum_all = sum_all};

}  // namespace voxshard::reference
