// Element by element over contiguous runs, f32 and bf16 in any mix; computed in f32. Other types go to the reference.
//
// Sums keep one f64 accumulator per position of a pattern of whole rows (about 64 elements), so that tensors with 1 to
// 8 channels vectorise like wide ones. The order of additions is fixed by the geometry of the view.
#include "libcore/kernels/pointwise.h"

#include <algorithm>
#include <cstring>
#include <vector>

#include "libcore/kernels/fast/runs.h"

namespace voxshard::fast {
namespace {

template <class X, class Y, class Op>
void map_run(const X* __restrict x, Y* __restrict y, std::int64_t count, Op op) {
  for (std::int64_t i = 0; i < count; ++i) round_to(op(to_f32(x[i])), y[i]);
}

template <class A, class B, class Y, class Op>
void map_run(const A* a, const B* b, Y* __restrict y, std::int64_t count, Op op) {
  for (std::int64_t i = 0; i < count; ++i) round_to(op(to_f32(a[i]), to_f32(b[i])), y[i]);
}

template <class Op>
void map(const TensorView& x, const TensorView& y, Op op) {
  with_type(x.dtype, [&]<class X>(X*) {
    with_type(y.dtype, [&]<class Y>(Y*) {
      for_each_run<2>(y.box, {&x, &y}, [&](const auto& at, std::int64_t count) {
        map_run(x.as<X>() + at[0], y.as<Y>() + at[1], count, op);
      });
    });
  });
}

template <class Op>
void map(const TensorView& a, const TensorView& b, const TensorView& y, Op op) {
  with_type(a.dtype, [&]<class A>(A*) {
    with_type(b.dtype, [&]<class B>(B*) {
      with_type(y.dtype, [&]<class Y>(Y*) {
        for_each_run<3>(y.box, {&a, &b, &y}, [&](const auto& at, std::int64_t count) {
          map_run(a.as<A>() + at[0], b.as<B>() + at[1], y.as<Y>() + at[2], count, op);
        });
      });
    });
  });
}

/// Adds a run to `pattern` accumulators, element i to accumulator i mod pattern.
template <class X>
void add_run(const X* x, std::int64_t count, std::vector<double>& sums) {
  const auto pattern = static_cast<std::int64_t>(sums.size());
  double* __restrict total = sums.data();
  for (std::int64_t from = 0; from < count; from += pattern) {
    const std::int64_t part = std::min(pattern, count - from);
    for (std::int64_t i = 0; i < part; ++i) total[i] += static_cast<double>(to_f32(x[from + i]));
  }
}

std::vector<double> channel_totals(const TensorView& x, std::int64_t channels) {
  const std::int64_t pattern = channels * std::max<std::int64_t>(1, 64 / channels);
  std::vector<double> sums(static_cast<std::size_t>(pattern), 0.0), totals(static_cast<std::size_t>(channels), 0.0);
  with_type(x.dtype, [&]<class X>(X*) {
    for_each_run<1>(x.box, {&x}, [&](const auto& at, std::int64_t count) { add_run(x.as<X>() + at[0], count, sums); });
  });
  for (std::size_t i = 0; i < sums.size(); ++i) totals[i % totals.size()] += sums[i];
  return totals;
}

void leaky_relu(const TensorView& x, const TensorView& y, double slope) {
  if (!is_fast(x) || !is_fast(y)) return reference::pointwise.leaky_relu(x, y, slope);
  const auto factor = static_cast<float>(slope);
  map(x, y, [factor](float v) {
    const float damped = factor * v;  // computed for all, so that the choice is a blend
    return v > 0 ? v : damped;
  });
}

void leaky_relu_grad(const TensorView& x, const TensorView& d_y, const TensorView& d_x, double slope) {
  if (!is_fast(x) || !is_fast(d_y) || !is_fast(d_x)) return reference::pointwise.leaky_relu_grad(x, d_y, d_x, slope);
  const auto factor = static_cast<float>(slope);
  map(x, d_y, d_x, [factor](float v, float grad) {
    const float damped = factor * grad;
    return v > 0 ? grad : damped;
  });
}

void dropout(const TensorView& x, const TensorView& y, const DropoutMask& mask) {
  if (!is_fast(x) || !is_fast(y)) return reference::pointwise.dropout(x, y, mask);
  const double kept = 1 - mask.rate;
  with_type(x.dtype, [&]<class X>(X*) {
    with_type(y.dtype, [&]<class Y>(Y*) {
      for_each_row(y.box, [&](const Dims& at) {
        std::int64_t index = 0;
        for (int a = 0; a < at.axes(); ++a) index = index * mask.shape[a] + at[a];
        const X* from = x.as<X>() + offset_at(x, at);
        Y* to = y.as<Y>() + offset_at(y, at);
        for (std::int64_t c = 0; c < row_count(y.box); ++c)
          round_to(mask.keeps(index + c) ? static_cast<float>(to_f32(from[c]) / kept) : 0.0F, to[c]);
      });
    });
  });
}

void add(const TensorView& a, const TensorView& b, const TensorView& y) {
  if (!is_fast(a) || !is_fast(b) || !is_fast(y)) return reference::pointwise.add(a, b, y);
  map(a, b, y, [](float u, float v) { return u + v; });
}

void scale(const TensorView& x, const TensorView& y, double factor) {
  if (!is_fast(x) || !is_fast(y)) return reference::pointwise.scale(x, y, factor);
  map(x, y, [f = static_cast<float>(factor)](float v) { return f * v; });
}

void convert(const TensorView& src, const TensorView& dst) {
  if (src.dtype == dst.dtype) {
    const std::int64_t size = dtype_bytes(src.dtype);
    for_each_run<2>(dst.box, {&src, &dst}, [&](const auto& at, std::int64_t count) {
      std::memcpy(dst.data + at[1] * size, src.data + at[0] * size, static_cast<std::size_t>(count * size));
    });
  } else if (is_fast(src) && is_fast(dst)) {
    map(src, dst, [](float v) { return v; });
  } else {
    reference::pointwise.convert(src, dst);
  }
}

void channel_sum(const TensorView& x, const TensorView& sums) {
  if (!is_fast(x) || x.box.empty()) return reference::pointwise.channel_sum(x, sums);
  store_row(sums, 0, sums.count(), channel_totals(x, sums.count()).data());
}

void sum_all(const TensorView& x, const TensorView& y) {
  if (!is_fast(x) || x.box.empty()) return reference::pointwise.sum_all(x, y);
  double total = 0;
  for (double part : channel_totals(x, row_count(x.box))) total += part;
  store(y, 0, total);
}

}  // namespace

const PointwiseKernels pointwise = {.leaky_relu = leaky_relu,
                                    .leaky_relu_grad = leaky_relu_grad,
                                    .dropout = dropout,
                                    .add = add,
                                    .scale = scale,
                                    .lerp = reference::pointwise.lerp,
                                    .convert = convert,
                                    .channel_sum = channel_sum,
                                    .sum_all = sum_all};

}  // namespace voxshard::fast
