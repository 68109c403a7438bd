#include "libcore/check/projection.h"

#include <cmath>

#include "libcore/base/rng.h"
#include "libcore/tensor/rows.h"

namespace voxshard {
namespace {

/// Returns `values` with `axis` reduced to extent 1: the sum of term(r, value) over the channels.
template <class Term>
Tensor folded(const TensorView& values, int axis, std::int64_t first, const std::vector<double>& r, WorkerPool& pool,
              Term term) {
  Shape shape = values.extent();
  shape[axis] = 1;
  Tensor result(DType::kF64, shape);
  Box box = values.box;
  box.set(axis, first, first + std::ssize(r));
  const TensorView to = result.view();
  const bool along_rows = axis + 1 == values.axes();
  const auto fold = [&](const Box& part) {
    std::vector<double> row(static_cast<std::size_t>(row_count(part)));
    for_each_row(part, [&](const Dims& at) {
      load_row(values, offset_at(values, at), std::ssize(row), row.data());
      Dims target = at;
      target[axis] = 0;
      double* sum = to.as<double>() + offset_at(to, target);
      if (along_rows)
        for (std::size_t c = 0; c < row.size(); ++c) *sum += term(r[c], row[c]);
      else
        for (std::size_t i = 0; i < row.size(); ++i) sum[i] += term(r[at[axis] - first], row[i]);
    });
  };
  // Parts of a box are uncut along the last axis only; other axes (as of weights) are folded in one task.
  if (along_rows)
    for_each_part(box, pool, fold);
  else
    fold(box);
  return result;
}

OwnedLayer single_channel(const Layer& layer, const ChannelAxis& axis) {
  OwnedLayer single{.layer = layer};
  single.layer.attrs = axis.single;
  single.layer.result.shape[axis.axis] = 1;
  for (const ChannelAxis::Carrier& carrier : axis.carriers) single.layer.types[carrier.input].shape[carrier.axis] = 1;
  return single;
}

/// Replaces input `slot` by `values`.
void give(OwnedLayer& owner, std::size_t slot, Tensor values) {
  owner.values.push_back(std::move(values));
  owner.layer.inputs[slot] = owner.values.back().view();
  owner.layer.types[slot] = {owner.values.back().dtype(), owner.values.back().shape()};
}

}  // namespace

std::vector<double> random_signs(const std::string& layer, std::uint64_t seed, std::int64_t channels) {
  const RngKey key{.seed = seed, .stream = rng_stream(layer)};
  std::vector<double> r(static_cast<std::size_t>(channels));
  for (std::size_t c = 0; c < r.size(); ++c) {
    const double u = rng_uniform(key, c);  // [0, 1) -> -1.5 .. -0.5, 0.5 .. 1.5
    r[c] = u < 0.5 ? -1.5 + 2 * u : 2 * u - 0.5;
  }
  return r;
}

Tensor summed_channels(const TensorView& values, int axis, std::int64_t first, const std::vector<double>& r,
                       WorkerPool& pool) {
  return folded(values, axis, first, r, pool, [](double by, double v) { return by * v; });
}

Tensor channel_norms(const TensorView& values, int axis, std::int64_t first, const std::vector<double>& r,
                     WorkerPool& pool) {
  Tensor norms = folded(values, axis, first, r, pool, [](double by, double v) { return by * v * by * v; });
  for (std::int64_t i = 0; i < norms.count(); ++i) norms.as<double>()[i] = std::sqrt(norms.as<double>()[i]);
  return norms;
}

ProjectedLayer projected(const Layer& layer, const ChannelAxis& axis, const std::vector<double>& r, WorkerPool& pool) {
  ProjectedLayer p{single_channel(layer, axis), single_channel(layer, axis)};
  std::vector<bool> carries(layer.inputs.size());
  for (const auto& [input, along, first] : axis.carriers) {
    carries[input] = true;
    give(p.exact, input, summed_channels(layer.inputs[input], along, first, r, pool));
    give(p.sizes, input, channel_norms(layer.inputs[input], along, first, r, pool));
  }
  for (std::size_t i = 0; i < carries.size(); ++i)
    if (!carries[i]) give(p.sizes, i, absolute(layer.inputs[i], pool));
  return p;
}

}  // namespace voxshard
