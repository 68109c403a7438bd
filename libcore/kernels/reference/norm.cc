// Normalisation in pieces, in double: the definitions in norm.h, one row of channels at a time.
//
// The order of additions in the sums is the row-major order of the view's box.
#include "libcore/kernels/norm.h"

#include <cmath>
#include <vector>

#include "libcore/tensor/rows.h"

namespace voxshard::reference {
namespace {

using Row = std::vector<double>;

/// Per channel {first, second} of group g of a (G, C, 2) view.
struct Pairs {
  Row first, second;

  Pairs(const TensorView& view, std::int64_t g) {
    const std::int64_t base = (g - view.box.begin[0]) * view.strides[0];
    for (std::int64_t c = 0; c < view.extent()[1]; ++c) {
      first.push_back(load(view, base + c * view.strides[1]));
      second.push_back(load(view, base + c * view.strides[1] + view.strides[2]));
    }
  }
};

void store_pair(const TensorView& view, std::int64_t g, std::int64_t c, double first, double second) {
  const std::int64_t at = (g - view.box.begin[0]) * view.strides[0] + c * view.strides[1];
  store(view, at, first);
  store(view, at + view.strides[2], second);
}

Row channels_of(const TensorView& view) {
  Row row(static_cast<std::size_t>(view.count()));
  load_row(view, 0, view.count(), row.data());
  return row;
}

/// Adds body(at, first, second) over the rows of `box` group by group, and writes the pairs of the groups in sums.box.
template <class Body>
void sum_pairs(const Box& box, const TensorView& sums, const NormSpec& spec, Body body) {
  for (std::int64_t g = sums.box.begin[0]; g < sums.box.end(0); ++g) {
    const auto channels = static_cast<std::size_t>(sums.extent()[1]);
    Row first(channels, 0.0), second(channels, 0.0);
    for_each_row(box, [&](const Dims& at) {
      if (spec.group_of(at[0]) == g) body(at, g, first, second);
    });
    for (std::size_t c = 0; c < channels; ++c) store_pair(sums, g, static_cast<std::int64_t>(c), first[c], second[c]);
  }
}

void moment_sums(const TensorView& x, const TensorView& sums, const NormSpec& spec) {
  Row value(static_cast<std::size_t>(row_count(x.box)));
  sum_pairs(x.box, sums, spec, [&](const Dims& at, std::int64_t, Row& first, Row& second) {
    load_row(x, offset_at(x, at), row_count(x.box), value.data());
    for (std::size_t c = 0; c < value.size(); ++c) {
      first[c] += value[c];
      second[c] += value[c] * value[c];
    }
  });
}

void norm_stats(const TensorView& sums, const TensorView& stats, const NormSpec& spec) {
  for (std::int64_t g = stats.box.begin[0]; g < stats.box.end(0); ++g) {
    const Pairs sum(sums, g);
    for (std::size_t c = 0; c < sum.first.size(); ++c) {
      const double mean = sum.first[c] / spec.count;
      const double variance = std::max(0.0, sum.second[c] / spec.count - mean * mean);
      store_pair(stats, g, static_cast<std::int64_t>(c), mean, 1.0 / std::sqrt(variance + spec.epsilon));
    }
  }
}

void norm_apply(const TensorView& x, const TensorView& stats, const TensorView& gamma, const TensorView& beta,
                const TensorView& y, const NormSpec& spec) {
  const Row scale = channels_of(gamma), shift = channels_of(beta);
  Row value(scale.size());
  for (std::int64_t n = y.box.begin[0]; n < y.box.end(0); ++n) {
    const Pairs stat(stats, spec.group_of(n));
    for_each_row(sample_of(y.box, n), [&](const Dims& at) {
      load_row(x, offset_at(x, at), row_count(y.box), value.data());
      for (std::size_t c = 0; c < value.size(); ++c) {
        const double z = (value[c] - stat.first[c]) * stat.second[c] * scale[c] + shift[c];
        value[c] = z > 0 ? z : spec.slope * z;
      }
      store_row(y, offset_at(y, at), row_count(y.box), value.data());
    });
  }
}

void norm_grad_sums(const TensorView& x, const TensorView& stats, const TensorView& gamma, const TensorView& beta,
                    const TensorView& d_y, const TensorView& sums, const NormSpec& spec) {
  const Row scale = channels_of(gamma), shift = channels_of(beta);
  Row value(scale.size()), grad(scale.size());
  std::vector<Pairs> stat;
  for (std::int64_t g = sums.box.begin[0]; g < sums.box.end(0); ++g) stat.emplace_back(stats, g);
  sum_pairs(d_y.box, sums, spec, [&](const Dims& at, std::int64_t g, Row& first, Row& second) {
    const Pairs& s = stat[g - sums.box.begin[0]];
    load_row(x, offset_at(x, at), row_count(d_y.box), value.data());
    load_row(d_y, offset_at(d_y, at), row_count(d_y.box), grad.data());
    for (std::size_t c = 0; c < value.size(); ++c) {
      const double xhat = (value[c] - s.first[c]) * s.second[c];
      const double d_z = xhat * scale[c] + shift[c] > 0 ? grad[c] : spec.slope * grad[c];
      first[c] += d_z;
      second[c] += d_z * xhat;
    }
  });
}

void norm_input_grad(const TensorView& x, const TensorView& stats, const TensorView& gamma, const TensorView& beta,
                     const TensorView& d_y, const TensorView& sums, const TensorView& d_x, const NormSpec& spec) {
  const Row scale = channels_of(gamma), shift = channels_of(beta);
  Row value(scale.size()), grad(scale.size());
  for (std::int64_t n = d_x.box.begin[0]; n < d_x.box.end(0); ++n) {
    const Pairs stat(stats, spec.group_of(n)), sum(sums, spec.group_of(n));
    for_each_row(sample_of(d_x.box, n), [&](const Dims& at) {
      load_row(x, offset_at(x, at), row_count(d_x.box), value.data());
      load_row(d_y, offset_at(d_y, at), row_count(d_x.box), grad.data());
      for (std::size_t c = 0; c < value.size(); ++c) {
        const double xhat = (value[c] - stat.first[c]) * stat.second[c];
        const double d_z = xhat * scale[c] + shift[c] > 0 ? grad[c] : spec.slope * grad[c];
        value[c] = scale[c] * stat.second[c] * (d_z - sum.first[c] / spec.count - xhat * sum.second[c] / spec.count);
      }
      store_row(d_x, offset_at(d_x, at), row_count(d_x.box), value.data());
    });
  }
}

void group_column(const TensorView& sums, std::int64_t column, const TensorView& total) {
  for (std::int64_t c = 0; c < total.count(); ++c) {
    double sum = 0;
    for (std::int64_t g = 0; g < sums.extent()[0]; ++g)
      sum += load(sums, g * sums.strides[0] + c * sums.strides[1] + column);
    store(total, c, sum);
  }
}

void group_moments(const TensorView& sums, const TensorView& moments, const NormSpec& spec) {
  for (std::int64_t c = 0; c < moments.extent()[0]; ++c) {
    double mean = 0, variance = 0;
    for (std::int64_t g = 0; g < sums.extent()[0]; ++g) {
      const std::int64_t at = g * sums.strides[0] + c * sums.strides[1];
      const double m = load(sums, at) / spec.count;
      mean += m;
      variance += std::max(0.0, load(sums, at + 1) / spec.count - m * m);
    }
    store(moments, c * 2, mean / static_cast<double>(spec.groups));
    store(moments, c * 2 + 1, variance / static_cast<double>(spec.groups));
  }
}

void running_stats(const TensorView& moments, const TensorView& stats, const NormSpec& spec) {
  for (std::int64_t c = 0; c < stats.extent()[1]; ++c) {
    store(stats, c * 2, load(moments, c * 2));
    store(stats, c * 2 + 1, 1 / std::sqrt(load(moments, c * 2 + 1) + spec.epsilon));
  }
}

}  // namespace

constinit const NormKernels norm = {.moment_sums = moment_sums,
                                    .stats = norm_stats,
                                    .apply = norm_apply,
                                    .grad_sums = norm_grad_sums,
                                    .input_grad = norm_input_grad,
                                    .group_column = group_column,
                                    .group_moments = group_moments,
                                    .running_stats = running_stats};

}  // namespace voxshard::reference
