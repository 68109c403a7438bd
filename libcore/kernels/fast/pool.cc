// Pooling and nearest up-sampling, vectorised over the channels of one voxel; f32 and bf16. Other types go to the
// reference.
//
// For each voxel the taps (or the windows that cover it) are ranges or short lists per axis, found once; the inner
// loops run over contiguous channels. Sums are f64 in avg_pool (windows may be whole images), f32 in the gradients.
#include "libcore/kernels/pool.h"

#include <algorithm>
#include <cstring>
#include <vector>

#include "libcore/kernels/fast/runs.h"

namespace voxshard::fast {
namespace {

/// A voxel on the other side of a window along one axis: the tap k and that voxel's global coordinate.
struct Partner {
  std::int64_t tap, at;
};
using Partners = std::vector<std::vector<Partner>>;  // one list per coordinate of the box

/// Lists, for the outputs in `box`, the taps whose input lies inside the global tensor.
Partners inputs_of(const Box& box, int axis, const Window& window, std::int64_t global) {
  Partners lists;
  for (std::int64_t o = box.begin[axis + 1]; o < box.end(axis + 1); ++o) {
    auto& list = lists.emplace_back();
    for (std::int64_t k = 0; k < window.kernel[axis]; ++k) {
      const std::int64_t i = o * window.stride[axis] - window.pad_lo[axis] + k * window.dilation[axis];
      if (i >= 0 && i < global) list.push_back({k, i});
    }
  }
  return lists;
}

/// Lists, for the inputs in `box`, the taps whose output lies in `outputs`, outputs ascending.
Partners outputs_of(const Box& box, int axis, const Window& window, const Box& outputs) {
  Partners lists;
  for (std::int64_t i = box.begin[axis + 1]; i < box.end(axis + 1); ++i) {
    auto& list = lists.emplace_back();
    for (std::int64_t k = window.kernel[axis] - 1; k >= 0; --k) {
      const std::int64_t scaled = i + window.pad_lo[axis] - k * window.dilation[axis];
      const std::int64_t o = floor_div(scaled, window.stride[axis]);
      if (o * window.stride[axis] == scaled && o >= outputs.begin[axis + 1] && o < outputs.end(axis + 1))
        list.push_back({k, o});
    }
  }
  return lists;
}

/// Calls begin(at) / pair(tap, partner coordinates) / end(at) for each voxel of `box`.
template <class Begin, class Pair, class End>
void for_each_pair(const Box& box, const Window& window, const Partners (&lists)[3], Begin begin, Pair pair, End end) {
  for_each_row(box, [&](const Dims& at) {
    begin(at);
    Dims other = at;
    for (const Partner& d : lists[0][at[1] - box.begin[1]])
      for (const Partner& h : lists[1][at[2] - box.begin[2]])
        for (const Partner& w : lists[2][at[3] - box.begin[3]]) {
          other[1] = d.at;
          other[2] = h.at;
          other[3] = w.at;
          pair((d.tap * window.kernel[1] + h.tap) * window.kernel[2] + w.tap, static_cast<const Dims&>(other));
        }
    end(at);
  });
}

template <class X>
void first_value(const X* __restrict x, std::int64_t count, std::int32_t tap, float* __restrict best,
                 std::int32_t* __restrict arg) {
  for (std::int64_t c = 0; c < count; ++c) {
    best[c] = to_f32(x[c]);
    arg[c] = tap;
  }
}

template <class X>
void better_value(const X* __restrict x, std::int64_t count, std::int32_t tap, float* __restrict best,
                  std::int32_t* __restrict arg) {
  for (std::int64_t c = 0; c < count; ++c) {
    const float value = to_f32(x[c]);
    const bool better = value > best[c];
    best[c] = better ? value : best[c];
    arg[c] = better ? tap : arg[c];
  }
}

/// Calls result(at, best, arg) for each voxel of `box`.
template <class Result>
void reduce_max(const TensorView& x, const Box& box, const Window& window, const Shape& global, Result result) {
  if (box.empty()) return;
  const std::int64_t channels = row_count(box);
  const Partners lists[3] = {inputs_of(box, 0, window, global[1]), inputs_of(box, 1, window, global[2]),
                             inputs_of(box, 2, window, global[3])};
  std::vector<float> best(static_cast<std::size_t>(channels));
  std::vector<std::int32_t> arg(best.size());
  bool first = true;
  with_type(x.dtype, [&]<class X>(X*) {
    for_each_pair(
        box, window, lists, [&](const Dims&) { first = true; },
        [&](std::int64_t tap, const Dims& at) {
          const X* row = x.as<X>() + offset_at(x, at);
          const auto k = static_cast<std::int32_t>(tap);
          first ? first_value(row, channels, k, best.data(), arg.data())
                : better_value(row, channels, k, best.data(), arg.data());
          first = false;
        },
        [&](const Dims& at) {
          if (first) {  // a window wholly in the padding
            std::fill(best.begin(), best.end(), 0.0F);
            std::fill(arg.begin(), arg.end(), 0);
          }
          result(at, best.data(), arg.data());
        });
  });
}

template <class Y>
void write_row(const float* __restrict from, Y* __restrict to, std::int64_t count) {
  for (std::int64_t c = 0; c < count; ++c) round_to(from[c], to[c]);
}

void write_row(const float* from, const TensorView& view, const Dims& at) {
  with_type(view.dtype, [&]<class Y>(Y*) { write_row(from, view.as<Y>() + offset_at(view, at), row_count(view.box)); });
}

template <class G>
void add_where(const std::uint8_t* __restrict arg, const G* __restrict grad, std::int64_t count, std::int32_t tap,
               float* __restrict sum) {
  for (std::int64_t c = 0; c < count; ++c) {
    const float value = to_f32(grad[c]);
    const std::int32_t winner = arg[c];
    sum[c] += winner == tap ? value : 0.0F;
  }
}

template <class X, class Sum>
void add_row(const X* __restrict x, std::int64_t count, Sum* __restrict sum) {
  for (std::int64_t c = 0; c < count; ++c) sum[c] += static_cast<Sum>(to_f32(x[c]));
}

template <class G>
void add_share(const G* __restrict grad, std::int64_t count, float share, float* __restrict sum) {
  for (std::int64_t c = 0; c < count; ++c) sum[c] += to_f32(grad[c]) / share;
}

void max_pool(const TensorView& x, const TensorView& y, const Window& window, const Shape& global) {
  if (!is_fast(x) || !is_fast(y)) return reference::pool.max_pool(x, y, window, global);
  reduce_max(x, y.box, window, global,
             [&](const Dims& at, const float* best, const std::int32_t*) { write_row(best, y, at); });
}

void max_pool_argmax(const TensorView& x, const TensorView& arg, const Window& window, const Shape& global) {
  if (!is_fast(x) || arg.dtype != DType::kU8) return reference::pool.max_pool_argmax(x, arg, window, global);
  reduce_max(x, arg.box, window, global, [&](const Dims& at, const float*, const std::int32_t* taps) {
    auto* to = arg.as<std::uint8_t>() + offset_at(arg, at);
    for (std::int64_t c = 0; c < row_count(arg.box); ++c) to[c] = static_cast<std::uint8_t>(taps[c]);
  });
}

void max_pool_grad(const TensorView& arg, const TensorView& d_y, const TensorView& d_x, const Window& window) {
  if (!is_fast(d_y) || !is_fast(d_x) || arg.dtype != DType::kU8)
    return reference::pool.max_pool_grad(arg, d_y, d_x, window);
  if (d_x.box.empty()) return;
  const std::int64_t channels = row_count(d_x.box);
  const Box outputs = intersect(arg.box, d_y.box);
  const Partners lists[3] = {outputs_of(d_x.box, 0, window, outputs), outputs_of(d_x.box, 1, window, outputs),
                             outputs_of(d_x.box, 2, window, outputs)};
  std::vector<float> sum(static_cast<std::size_t>(channels));
  with_type(d_y.dtype, [&]<class G>(G*) {
    for_each_pair(
        d_x.box, window, lists, [&](const Dims&) { std::fill(sum.begin(), sum.end(), 0.0F); },
        [&](std::int64_t tap, const Dims& o) {
          add_where(arg.as<std::uint8_t>() + offset_at(arg, o), d_y.as<G>() + offset_at(d_y, o), channels,
                    static_cast<std::int32_t>(tap), sum.data());
        },
        [&](const Dims& at) { write_row(sum.data(), d_x, at); });
  });
}

void avg_pool(const TensorView& x, const TensorView& y, const Window& window, const Shape& global) {
  if (!is_fast(x) || !is_fast(y)) return reference::pool.avg_pool(x, y, window, global);
  if (y.box.empty()) return;
  const std::int64_t channels = row_count(y.box);
  const Partners lists[3] = {inputs_of(y.box, 0, window, global[1]), inputs_of(y.box, 1, window, global[2]),
                             inputs_of(y.box, 2, window, global[3])};
  std::vector<double> sum(static_cast<std::size_t>(channels));
  std::vector<float> mean(sum.size());
  std::int64_t volume = 0;
  with_type(x.dtype, [&]<class X>(X*) {
    for_each_pair(
        y.box, window, lists,
        [&](const Dims&) {
          std::fill(sum.begin(), sum.end(), 0.0);
          volume = 0;
        },
        [&](std::int64_t, const Dims& i) {
          add_row(x.as<X>() + offset_at(x, i), channels, sum.data());
          ++volume;
        },
        [&](const Dims& at) {
          const auto divisor = static_cast<double>(std::max<std::int64_t>(1, volume));
          for (std::size_t c = 0; c < sum.size(); ++c) mean[c] = static_cast<float>(sum[c] / divisor);
          write_row(mean.data(), y, at);
        });
  });
}

void avg_pool_grad(const TensorView& d_y, const TensorView& d_x, const Window& window, const Shape& global) {
  if (!is_fast(d_y) || !is_fast(d_x)) return reference::pool.avg_pool_grad(d_y, d_x, window, global);
  if (d_x.box.empty() || d_y.box.empty()) return fill_zero(d_x);
  const std::int64_t channels = row_count(d_x.box);
  const Partners lists[3] = {outputs_of(d_x.box, 0, window, d_y.box), outputs_of(d_x.box, 1, window, d_y.box),
                             outputs_of(d_x.box, 2, window, d_y.box)};
  const Partners taps[3] = {inputs_of(d_y.box, 0, window, global[1]), inputs_of(d_y.box, 1, window, global[2]),
                            inputs_of(d_y.box, 2, window, global[3])};
  std::vector<float> sum(static_cast<std::size_t>(channels));
  with_type(d_y.dtype, [&]<class G>(G*) {
    for_each_pair(
        d_x.box, window, lists, [&](const Dims&) { std::fill(sum.begin(), sum.end(), 0.0F); },
        [&](std::int64_t, const Dims& o) {
          std::size_t volume = 1;
          for (int a = 0; a < 3; ++a) volume *= taps[a][o[a + 1] - d_y.box.begin[a + 1]].size();
          add_share(d_y.as<G>() + offset_at(d_y, o), channels, static_cast<float>(volume), sum.data());
        },
        [&](const Dims& at) { write_row(sum.data(), d_x, at); });
  });
}

/// Copies to each voxel of y the channels of a voxel of x; `from`: its coordinate along spatial axis a. Requires equal
/// types.
template <class From>
void copy_voxels(const TensorView& x, const TensorView& y, From from) {
  const auto size = static_cast<std::size_t>(dtype_bytes(y.dtype)),
             row = static_cast<std::size_t>(row_count(y.box)) * size;
  for_each_row(y.box, [&](const Dims& o) {
    Dims i = o;
    for (int a = 0; a < 3; ++a) i[a + 1] = from(a, o[a + 1]);
    std::memcpy(y.data + offset_at(y, o) * static_cast<std::int64_t>(size),
                x.data + offset_at(x, i) * static_cast<std::int64_t>(size), row);
  });
}

void upsample_nearest(const TensorView& x, const TensorView& y, const Dims& factor) {
  if (x.dtype != y.dtype) return reference::pool.upsample_nearest(x, y, factor);
  copy_voxels(x, y, [&](int a, std::int64_t o) { return floor_div(o, factor[a]); });
}

void subsample(const TensorView& x, const TensorView& y, const Dims& factor, const Shape& global) {
  if (x.dtype != y.dtype) return reference::pool.subsample(x, y, factor, global);
  copy_voxels(x, y, [&](int a, std::int64_t o) { return subsampled_from(o, factor[a], global[a + 1]); });
}

void upsample_nearest_grad(const TensorView& d_y, const TensorView& d_x, const Dims& factor) {
  if (!is_fast(d_y) || !is_fast(d_x)) return reference::pool.upsample_nearest_grad(d_y, d_x, factor);
  if (d_x.box.empty()) return;
  const std::int64_t channels = row_count(d_x.box);
  const Window window{
      .kernel = factor, .stride = factor, .dilation = {1, 1, 1}, .pad_lo = {0, 0, 0}, .pad_hi = {0, 0, 0}};
  Partners lists[3];  // the copies of each input, clipped to d_y.box
  for (int a = 0; a < 3; ++a)
    for (std::int64_t i = d_x.box.begin[a + 1]; i < d_x.box.end(a + 1); ++i) {
      auto& list = lists[a].emplace_back();
      for (std::int64_t k = 0; k < factor[a]; ++k) {
        const std::int64_t o = i * factor[a] + k;
        if (o >= d_y.box.begin[a + 1] && o < d_y.box.end(a + 1)) list.push_back({k, o});
      }
    }
  std::vector<float> sum(static_cast<std::size_t>(channels));
  const Partners(&fixed)[3] = lists;
  with_type(d_y.dtype, [&]<class G>(G*) {
    for_each_pair(
        d_x.box, window, fixed, [&](const Dims&) { std::fill(sum.begin(), sum.end(), 0.0F); },
        [&](std::int64_t, const Dims& o) { add_row(d_y.as<G>() + offset_at(d_y, o), channels, sum.data()); },
        [&](const Dims& at) { write_row(sum.data(), d_x, at); });
  });
}

}  // namespace

const PoolKernels pool = {.max_pool = max_pool,
                          .max_pool_argmax = max_pool_argmax,
                          .max_pool_grad = max_pool_grad,
                          .avg_pool = avg_pool,
                          .avg_pool_grad = avg_pool_grad,
                          .upsample_nearest = upsample_nearest,
                          .subsample = subsample,
                          .upsample_nearest_grad = upsample_nearest_grad};

}  // namespace voxshard::fast
