// Pooling and nearest up-sampling, one row of channels at a time, straight from the definitions in pool.h.
//
// Gradients are in gather form: each d_x element visits the windows that cover it. Example: kernel 3, stride 2, pad 1:
// input 3 is read by outputs o with 2 o - 1 + k = 3, that is o = 2 (k = 0) and o = 1 (k = 2).
#include "libcore/kernels/pool.h"

#include <vector>

#include "libcore/tensor/rows.h"

namespace voxshard::reference {
namespace {

using Row = std::vector<double>;

Row row_for(const TensorView& view) { return Row(static_cast<std::size_t>(row_count(view.box)), 0.0); }

/// Calls body(tap, at) for the inputs of output `o` that lie inside the global tensor, in row-major order of taps.
template <class Body>
void for_each_input(const Dims& o, const Window& window, const Shape& global, Body body) {
  Dims at = o;
  std::int64_t tap = 0;
  for (std::int64_t kd = 0; kd < window.kernel[0]; ++kd)
    for (std::int64_t kh = 0; kh < window.kernel[1]; ++kh)
      for (std::int64_t kw = 0; kw < window.kernel[2]; ++kw, ++tap) {
        const std::int64_t k[3] = {kd, kh, kw};
        bool inside = true;
        for (int a = 0; a < 3; ++a) {
          at[a + 1] = o[a + 1] * window.stride[a] - window.pad_lo[a] + k[a] * window.dilation[a];
          inside = inside && at[a + 1] >= 0 && at[a + 1] < global[a + 1];
        }
        if (inside) body(tap, static_cast<const Dims&>(at));
      }
}

/// Calls body(tap, o) for the outputs in `outputs` that read input `i`; outputs in ascending order per axis.
template <class Body>
void for_each_output(const Dims& i, const Window& window, const Box& outputs, Body body) {
  if (i[0] < outputs.begin[0] || i[0] >= outputs.end(0)) return;
  Dims o = i;
  // Sets `o` along a spatial axis to the output that reads `i` through tap k; false when there is none. Taps without
  // one are left axis by axis: a mean over the image has one output and as many taps as voxels.
  const auto reads = [&](int axis, std::int64_t k) {
    const std::int64_t scaled = i[axis + 1] + window.pad_lo[axis] - k * window.dilation[axis];
    o[axis + 1] = floor_div(scaled, window.stride[axis]);
    return o[axis + 1] * window.stride[axis] == scaled && o[axis + 1] >= outputs.begin[axis + 1] &&
           o[axis + 1] < outputs.end(axis + 1);
  };
  for (std::int64_t kd = window.kernel[0] - 1; kd >= 0; --kd)
    if (reads(0, kd))
      for (std::int64_t kh = window.kernel[1] - 1; kh >= 0; --kh)
        if (reads(1, kh))
          for (std::int64_t kw = window.kernel[2] - 1; kw >= 0; --kw)
            if (reads(2, kw)) body((kd * window.kernel[1] + kh) * window.kernel[2] + kw, static_cast<const Dims&>(o));
}

/// The maximum of each channel and the first tap that holds it; 0 and tap 0 for a window wholly in the padding.
template <class Result>
void reduce_max(const TensorView& x, const Box& box, const Window& window, const Shape& global, Result result) {
  const std::int64_t channels = row_count(box);
  Row value = row_for(x), best(static_cast<std::size_t>(channels)), arg(static_cast<std::size_t>(channels));
  for_each_row(box, [&](const Dims& o) {
    std::fill(best.begin(), best.end(), 0.0);
    std::fill(arg.begin(), arg.end(), 0.0);
    bool first = true;
    for_each_input(o, window, global, [&](std::int64_t tap, const Dims& at) {
      load_row(x, offset_at(x, at), channels, value.data());
      for (std::size_t c = 0; c < best.size(); ++c)
        if (first || value[c] > best[c]) {
          best[c] = value[c];
          arg[c] = static_cast<double>(tap);
        }
      first = false;
    });
    result(o, best, arg);
  });
}

/// The number of inputs of output `o` that lie inside the global tensor: the product of those along each axis.
double clipped_volume(const Dims& o, const Window& window, const Shape& global) {
  double volume = 1;
  for (int a = 0; a < 3; ++a) {
    std::int64_t inside = 0;
    for (std::int64_t k = 0; k < window.kernel[a]; ++k) {
      const std::int64_t at = o[a + 1] * window.stride[a] - window.pad_lo[a] + k * window.dilation[a];
      inside += at >= 0 && at < global[a + 1];
    }
    volume *= static_cast<double>(inside);
  }
  return volume;
}

void max_pool(const TensorView& x, const TensorView& y, const Window& window, const Shape& global) {
  reduce_max(x, y.box, window, global, [&](const Dims& o, const Row& best, const Row&) {
    store_row(y, offset_at(y, o), row_count(y.box), best.data());
  });
}

void max_pool_argmax(const TensorView& x, const TensorView& arg, const Window& window, const Shape& global) {
  reduce_max(x, arg.box, window, global, [&](const Dims& o, const Row&, const Row& taps) {
    store_row(arg, offset_at(arg, o), row_count(arg.box), taps.data());
  });
}

void max_pool_grad(const TensorView& arg, const TensorView& d_y, const TensorView& d_x, const Window& window) {
  const std::int64_t channels = row_count(d_x.box);
  const Box outputs = intersect(arg.box, d_y.box);
  Row taps = row_for(d_x), grad = row_for(d_x), sum = row_for(d_x);
  for_each_row(d_x.box, [&](const Dims& i) {
    std::fill(sum.begin(), sum.end(), 0.0);
    for_each_output(i, window, outputs, [&](std::int64_t tap, const Dims& o) {
      load_row(arg, offset_at(arg, o), channels, taps.data());
      load_row(d_y, offset_at(d_y, o), channels, grad.data());
      for (std::size_t c = 0; c < sum.size(); ++c)
        if (taps[c] == static_cast<double>(tap)) sum[c] += grad[c];
    });
    store_row(d_x, offset_at(d_x, i), channels, sum.data());
  });
}

void avg_pool(const TensorView& x, const TensorView& y, const Window& window, const Shape& global) {
  const std::int64_t channels = row_count(y.box);
  Row value = row_for(y), sum = row_for(y);
  for_each_row(y.box, [&](const Dims& o) {
    std::fill(sum.begin(), sum.end(), 0.0);
    double volume = 0;
    for_each_input(o, window, global, [&](std::int64_t, const Dims& at) {
      load_row(x, offset_at(x, at), channels, value.data());
      for (std::size_t c = 0; c < sum.size(); ++c) sum[c] += value[c];
      volume += 1;
    });
    for (double& s : sum) s = volume > 0 ? s / volume : 0.0;
    store_row(y, offset_at(y, o), channels, sum.data());
  });
}

void avg_pool_grad(const TensorView& d_y, const TensorView& d_x, const Window& window, const Shape& global) {
  const std::int64_t channels = row_count(d_x.box);
  Row grad = row_for(d_x), sum = row_for(d_x);
  for_each_row(d_x.box, [&](const Dims& i) {
    std::fill(sum.begin(), sum.end(), 0.0);
    for_each_output(i, window, d_y.box, [&](std::int64_t, const Dims& o) {
      load_row(d_y, offset_at(d_y, o), channels, grad.data());
      const double volume = clipped_volume(o, window, global);
      for (std::size_t c = 0; c < sum.size(); ++c) sum[c] += grad[c] / volume;
    });
    store_row(d_x, offset_at(d_x, i), channels, sum.data());
  });
}

void upsample_nearest(const TensorView& x, const TensorView& y, const Dims& factor) {
  Row row = row_for(y);
  for_each_row(y.box, [&](const Dims& o) {
    Dims i = o;
    for (int a = 0; a < 3; ++a) i[a + 1] = floor_div(o[a + 1], factor[a]);
    load_row(x, offset_at(x, i), row_count(y.box), row.data());
    store_row(y, offset_at(y, o), row_count(y.box), row.data());
  });
}

void subsample(const TensorView& x, const TensorView& y, const Dims& factor, const Shape& global) {
  Row row = row_for(y);
  for_each_row(y.box, [&](const Dims& o) {
    Dims i = o;
    for (int a = 0; a < 3; ++a) i[a + 1] = subsampled_from(o[a + 1], factor[a], global[a + 1]);
    load_row(x, offset_at(x, i), row_count(y.box), row.data());
    store_row(y, offset_at(y, o), row_count(y.box), row.data());
  });
}

void upsample_nearest_grad(const TensorView& d_y, const TensorView& d_x, const Dims& factor) {
  Row grad = row_for(d_x), sum = row_for(d_x);
  for_each_row(d_x.box, [&](const Dims& i) {
    std::fill(sum.begin(), sum.end(), 0.0);
    Box copies = d_y.box;
    copies.set(0, i[0], i[0] + 1);
    for (int a = 0; a < 3; ++a) copies.set(a + 1, i[a + 1] * factor[a], (i[a + 1] + 1) * factor[a]);
    for_each_row(intersect(copies, d_y.box), [&](const Dims& o) {
      load_row(d_y, offset_at(d_y, o), row_count(d_x.box), grad.data());
      for (std::size_t c = 0; c < sum.size(); ++c) sum[c] += grad[c];
    });
    store_row(d_x, offset_at(d_x, i), row_count(d_x.box), sum.data());
  });
}

}  // namespace

constinit const PoolKernels pool = {.max_pool = max_pool,
                                    .max_pool_argmax = max_pool_argmax,
                                    .max_pool_grad = max_pool_grad,
                                    .avg_pool = avg_pool,
                                    .avg_pool_grad = avg_pool_grad,
                                    .upsample_nearest = upsample_nearest,
                                    .subsample = subsample,
                                    .upsample_nearest_grad = upsample_nearest_grad};

}  // namespace voxshard::reference
