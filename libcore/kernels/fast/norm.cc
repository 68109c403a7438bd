// Normalisation over contiguous runs of memory, f32 and bf16; memory bound. Other types go to the reference.
//
// Per-channel numbers are laid out as a pattern of whole rows (at least 64 floats, a multiple of 8), so that the inner
// loop is one long vector loop for 1 channel as for 512. Sums keep one f64 accumulator per position of the pattern.
#include "libcore/kernels/norm.h"

#include <algorithm>
#include <numeric>
#include <vector>

#include "libcore/kernels/fast/runs.h"

namespace voxshard::fast {
namespace {

std::int64_t pattern_of(std::int64_t channels) {
  const std::int64_t unit = std::lcm(channels, std::int64_t{8});
  return unit * ceil_div(64, unit);
}

using Floats = std::vector<float>;

/// The numbers of one group, tiled to the pattern. z = (x - mean) * scale + shift.
struct Group {
  Floats mean, scale, shift, inv_std;
  Floats grad_mean, grad_slope;  // sum(d_z) / count and inv_std * sum(d_z xhat) / count
};

double pair_entry(const TensorView& view, std::int64_t g, std::int64_t c, int which) {
  return load(view, (g - view.box.begin[0]) * view.strides[0] + c * view.strides[1] + which * view.strides[2]);
}

Group group_numbers(std::int64_t g, const TensorView& stats, const TensorView& gamma, const TensorView& beta,
                    const TensorView* sums, const NormSpec& spec) {
  const std::int64_t channels = gamma.count();
  const auto pattern = static_cast<std::size_t>(pattern_of(channels));
  Group n;
  for (Floats* part : {&n.mean, &n.scale, &n.shift, &n.inv_std, &n.grad_mean, &n.grad_slope}) part->resize(pattern);
  for (std::size_t i = 0; i < pattern; ++i) {
    const auto c = static_cast<std::int64_t>(i) % channels;
    const double inv_std = pair_entry(stats, g, c, 1);
    n.mean[i] = static_cast<float>(pair_entry(stats, g, c, 0));
    n.inv_std[i] = static_cast<float>(inv_std);
    n.scale[i] = static_cast<float>(inv_std * load(gamma, c));
    n.shift[i] = static_cast<float>(load(beta, c));
    if (sums == nullptr) continue;
    n.grad_mean[i] = static_cast<float>(pair_entry(*sums, g, c, 0) / spec.count);
    n.grad_slope[i] = static_cast<float>(inv_std * pair_entry(*sums, g, c, 1) / spec.count);
  }
  return n;
}

/// value where z > 0, slope * value elsewhere; both are computed, so that the choice is a blend.
inline float activate(float z, float value, float slope) {
  const float damped = slope * value;
  return z > 0 ? value : damped;
}

template <class X, class Y>
void apply_part(const X* __restrict x, Y* __restrict y, std::int64_t count, const Group& n, float slope) {
  const float* __restrict mean = n.mean.data();
  const float* __restrict scale = n.scale.data();
  const float* __restrict shift = n.shift.data();
  for (std::int64_t i = 0; i < count; ++i) {
    const float z = (to_f32(x[i]) - mean[i]) * scale[i] + shift[i];
    round_to(activate(z, z, slope), y[i]);
  }
}

template <class X, class G, class Y>
void input_grad_part(const X* __restrict x, const G* __restrict d_y, Y* __restrict d_x, std::int64_t count,
                     const Group& n, float slope) {
  const float* __restrict mean = n.mean.data();
  const float* __restrict scale = n.scale.data();
  const float* __restrict shift = n.shift.data();
  const float* __restrict grad_mean = n.grad_mean.data(), * __restrict grad_slope = n.grad_slope.data();
  for (std::int64_t i = 0; i < count; ++i) {
    const float centred = to_f32(x[i]) - mean[i], grad = to_f32(d_y[i]);
    const float d_z = activate(centred * scale[i] + shift[i], grad, slope);
    round_to(scale[i] * (d_z - grad_mean[i] - centred * grad_slope[i]), d_x[i]);
  }
}

template <class X>
void moments_part(const X* __restrict x, std::int64_t count, double* __restrict first, double* __restrict second) {
  for (std::int64_t i = 0; i < count; ++i) {
    const auto value = static_cast<double>(to_f32(x[i]));
    first[i] += value;
    second[i] += value * value;
  }
}

template <class X, class G>
void grad_sums_part(const X* __restrict x, const G* __restrict d_y, std::int64_t count, const Group& n, float slope,
                    double* __restrict first, double* __restrict second) {
  const float* __restrict mean = n.mean.data();
  const float* __restrict scale = n.scale.data();
  const float* __restrict shift = n.shift.data();
  const float* __restrict inv_std = n.inv_std.data();
  for (std::int64_t i = 0; i < count; ++i) {
    const float centred = to_f32(x[i]) - mean[i], grad = to_f32(d_y[i]);
    const float d_z = activate(centred * scale[i] + shift[i], grad, slope);
    first[i] += static_cast<double>(d_z);
    second[i] += static_cast<double>(d_z) * static_cast<double>(centred * inv_std[i]);
  }
}

/// Folds pattern accumulators and writes the pairs of one group.
struct PairSums {
  std::vector<double> first, second;

  explicit PairSums(std::int64_t channels)
      : first(static_cast<std::size_t>(pattern_of(channels)), 0.0), second(first.size(), 0.0) {}

  void write(const TensorView& sums, std::int64_t g) const {
    const std::int64_t channels = sums.extent()[1];
    for (std::int64_t c = 0; c < channels; ++c) {
      double a = 0, b = 0;
      for (auto i = static_cast<std::size_t>(c); i < first.size(); i += static_cast<std::size_t>(channels)) {
        a += first[i];
        b += second[i];
      }
      const std::int64_t at = (g - sums.box.begin[0]) * sums.strides[0] + c * sums.strides[1];
      store(sums, at, a);
      store(sums, at + sums.strides[2], b);
    }
  }
};

/// Calls body(from, count) for pieces of at most a pattern.
template <class Body>
void for_each_part(std::int64_t total, std::int64_t pattern, Body body) {
  for (std::int64_t from = 0; from < total; from += pattern) body(from, std::min(pattern, total - from));
}

void moment_sums(const TensorView& x, const TensorView& sums, const NormSpec& spec) {
  if (!is_fast(x)) return reference::norm.moment_sums(x, sums, spec);
  const std::int64_t channels = sums.extent()[1], pattern = pattern_of(channels);
  for (std::int64_t g = sums.box.begin[0]; g < sums.box.end(0); ++g) {
    PairSums total(channels);
    for (std::int64_t n = x.box.begin[0]; n < x.box.end(0); ++n) {
      if (spec.group_of(n) != g) continue;
      with_type(x.dtype, [&]<class X>(X*) {
        for_each_run<1>(sample_of(x.box, n), {&x}, [&](const auto& at, std::int64_t count) {
          for_each_part(count, pattern, [&](std::int64_t from, std::int64_t part) {
            moments_part(x.as<X>() + at[0] + from, part, total.first.data(), total.second.data());
          });
        });
      });
    }
    total.write(sums, g);
  }
}

void norm_apply(const TensorView& x, const TensorView& stats, const TensorView& gamma, const TensorView& beta,
                const TensorView& y, const NormSpec& spec) {
  if (!is_fast(x) || !is_fast(y)) return reference::norm.apply(x, stats, gamma, beta, y, spec);
  const std::int64_t pattern = pattern_of(gamma.count());
  const auto slope = static_cast<float>(spec.slope);
  for (std::int64_t n = y.box.begin[0]; n < y.box.end(0); ++n) {
    const Group numbers = group_numbers(spec.group_of(n), stats, gamma, beta, nullptr, spec);
    with_type(x.dtype, [&]<class X>(X*) {
      with_type(y.dtype, [&]<class Y>(Y*) {
        for_each_run<2>(sample_of(y.box, n), {&x, &y}, [&](const auto& at, std::int64_t count) {
          for_each_part(count, pattern, [&](std::int64_t from, std::int64_t part) {
            apply_part(x.as<X>() + at[0] + from, y.as<Y>() + at[1] + from, part, numbers, slope);
          });
        });
      });
    });
  }
}

void norm_grad_sums(const TensorView& x, const TensorView& stats, const TensorView& gamma, const TensorView& beta,
                    const TensorView& d_y, const TensorView& sums, const NormSpec& spec) {
  if (!is_fast(x) || !is_fast(d_y)) return reference::norm.grad_sums(x, stats, gamma, beta, d_y, sums, spec);
  const std::int64_t channels = sums.extent()[1], pattern = pattern_of(channels);
  const auto slope = static_cast<float>(spec.slope);
  for (std::int64_t g = sums.box.begin[0]; g < sums.box.end(0); ++g) {
    PairSums total(channels);
    const Group numbers = group_numbers(g, stats, gamma, beta, nullptr, spec);
    for (std::int64_t n = d_y.box.begin[0]; n < d_y.box.end(0); ++n) {
      if (spec.group_of(n) != g) continue;
      with_type(x.dtype, [&]<class X>(X*) {
        with_type(d_y.dtype, [&]<class G>(G*) {
          for_each_run<2>(sample_of(d_y.box, n), {&x, &d_y}, [&](const auto& at, std::int64_t count) {
            for_each_part(count, pattern, [&](std::int64_t from, std::int64_t part) {
              grad_sums_part(x.as<X>() + at[0] + from, d_y.as<G>() + at[1] + from, part, numbers, slope,
                             total.first.data(), total.second.data());
            });
          });
        });
      });
    }
    total.write(sums, g);
  }
}

void norm_input_grad(const TensorView& x, const TensorView& stats, const TensorView& gamma, const TensorView& beta,
                     const TensorView& d_y, const TensorView& sums, const TensorView& d_x, const NormSpec& spec) {
  if (!is_fast(x) || !is_fast(d_y) || !is_fast(d_x))
    return reference::norm.input_grad(x, stats, gamma, beta, d_y, sums, d_x, spec);
  const std::int64_t pattern = pattern_of(gamma.count());
  const auto slope = static_cast<float>(spec.slope);
  for (std::int64_t n = d_x.box.begin[0]; n < d_x.box.end(0); ++n) {
    const Group numbers = group_numbers(spec.group_of(n), stats, gamma, beta, &sums, spec);
    with_type(x.dtype, [&]<class X>(X*) {
      with_type(d_y.dtype, [&]<class G>(G*) {
        with_type(d_x.dtype, [&]<class Y>(Y*) {
          for_each_run<3>(sample_of(d_x.box, n), {&x, &d_y, &d_x}, [&](const auto& at, std::int64_t count) {
            for_each_part(count, pattern, [&](std::int64_t from, std::int64_t part) {
              input_grad_part(x.as<X>() + at[0] + from, d_y.as<G>() + at[1] + from, d_x.as<Y>() + at[2] + from, part,
                              numbers, slope);
            });
          });
        });
      });
    });
  }
}

}  // namespace

const NormKernels norm = {.moment_sums = moment_sums,
                          .stats = reference::norm.stats,
                          .apply = norm_apply,
                          .grad_sums = norm_grad_sums,
                          .input_grad = norm_input_grad,
                          .group_column = reference::norm.group_column,
                          .group_moments = reference::norm.group_moments,
                          .running_stats = reference::norm.running_stats};

}  // namespace voxshard::fast
