#include "libcore/check/tolerance.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "libcore/tensor/rows.h"

namespace voxshard {
namespace {

constexpr double kSumFactor = 8;        // times epsilon, length and size of an addend: see sum_allowance
constexpr double kStraightFactor = 2;   // times epsilon and the linear growth of a sum: see sum_allowance
constexpr double kSmallest = 0x1p-126;  // smallest normal number of f32 and bf16; below it hardware may round to zero

double widest_of(const std::vector<double>& rms) { return rms.empty() ? 0 : *std::max_element(rms.begin(), rms.end()); }

}  // namespace

double half_spacing(double value, DType dtype) {
  if (dtype == DType::kF64 || !is_float(dtype) || !std::isfinite(value)) return 0;
  if (value == 0) return kSmallest;
  int exponent = 0;
  std::frexp(value, &exponent);  // value = m * 2^exponent, m from 0.5 to below 1
  return std::max(std::ldexp(epsilon_of(dtype), exponent - 1), kSmallest);
}

double sum_allowance(const LongSum& sum, DType arithmetic, double value) {
  const double root = std::sqrt(sum.length), blocks = sum.block > 0 ? sum.length / sum.block : 1;
  const double straight = root / blocks + std::sqrt(std::log2(std::max(1.0, blocks)));
  const double growth = arithmetic == DType::kF64 ? sum.length * root : sum.length;
  return epsilon_of(arithmetic) * (kSumFactor * growth * sum.addend + kStraightFactor * straight * std::abs(value));
}

std::vector<double> channel_rms(const TensorView& values, WorkerPool& pool) {
  const auto channels = static_cast<std::size_t>(row_count(values.box));
  const std::vector<Box> parts = parts_of(values.box);
  std::vector<std::vector<double>> sums(parts.size(), std::vector<double>(channels));
  pool.run(std::ssize(parts), [&](std::int64_t i, int) {
    const auto part = static_cast<std::size_t>(i);
    std::vector<double> row(channels);
    for_each_row(parts[part], [&](const Dims& at) {
      load_row(values, offset_at(values, at), std::ssize(row), row.data());
      for (std::size_t c = 0; c < channels; ++c) sums[part][c] += row[c] * row[c];
    });
  });
  const double rows = static_cast<double>(values.count()) / static_cast<double>(std::max<std::size_t>(1, channels));
  std::vector<double> rms(channels);
  for (std::size_t c = 0; c < channels; ++c) {
    for (const std::vector<double>& part : sums) rms[c] += part[c];
    rms[c] = std::sqrt(rms[c] / std::max(1.0, rows));
  }
  return rms;
}

std::vector<double> LongSums::rms_of(const Layer& layer, std::size_t input, std::span<const ValueId> ids) {
  if (ids.empty()) return channel_rms(layer.inputs[input], pool_);
  const auto [at, first] = known_.try_emplace(ids[input]);
  if (first) at->second = channel_rms(layer.inputs[input], pool_);
  return at->second;
}

std::vector<LongSum> LongSums::of(const Layer& layer, std::span<const ValueId> ids, const std::vector<Box>& blocks) {
  const OpDef& def = *layer.def;
  if (def.driver < 0) return {};
  const auto driver = static_cast<std::size_t>(def.driver);
  std::vector<double> sizes;
  for (std::size_t i = 0; i < layer.inputs.size(); ++i) sizes.push_back(widest_of(rms_of(layer, i, ids)));
  const std::vector<double> by_channel = rms_of(layer, driver, ids);
  const Box all = layer.iteration();
  const double length =
      static_cast<double>(all.count()) / static_cast<double>(std::max<std::int64_t>(1, row_count(all)));
  double longest = 0;
  for (const Box& block : blocks)
    longest = std::max(longest, static_cast<double>(block.count()) / static_cast<double>(row_count(block)));
  std::vector<LongSum> sums(static_cast<std::size_t>(element_count(layer.result.shape)),
                            {.length = length, .block = longest});
  const TensorView result = dense_view(nullptr, layer.result.dtype, Box::whole(layer.result.shape));
  for (std::size_t c = 0; c < by_channel.size(); ++c) {
    Box channel = all;
    channel.set(all.axes() - 1, static_cast<std::int64_t>(c), static_cast<std::int64_t>(c) + 1);
    const Box to = result_box(def, layer.op(), channel);
    const bool alone = to != result.box;  // otherwise every element sums over every channel
    sizes[driver] = alone ? by_channel[c] : widest_of(by_channel);
    const double addend = def.addend != nullptr ? def.addend(sizes) : sizes[driver];
    for_each_row(to, [&](const Dims& at) {
      for (std::int64_t i = offset_at(result, at), end = i + row_count(to); i < end; ++i) {
        double& held = sums[i].addend;
        held = std::max(held, addend);
      }
    });
    if (!alone) break;
  }
  return sums;
}

LongSum LongSums::widest(const Layer& layer, std::span<const ValueId> ids) {
  LongSum widest;
  for (const LongSum& sum : of(layer, ids))
    if (sum.addend >= widest.addend) widest = sum;
  return widest;
}

void Worst::add(double a, double b, double may_differ) {
  if (a == b) return;
  const double d = std::abs(a - b);
  const double of_allowed = d / may_differ;  // NaN counts as too far
  const double now = d <= may_differ || of_allowed > 1 ? of_allowed : std::numeric_limits<double>::infinity();
  if (now > ratio) *this = {d, may_differ, now};
}

void Worst::add_rounded(double found, double exact, DType dtype, double may_differ) {
  if (found == exact) return;
  const double d = std::abs(found - exact), rounding = half_spacing(std::max(std::abs(found), std::abs(exact)), dtype);
  if (d <= rounding) return;
  const double of_allowed = (d - rounding) / may_differ;
  const double now = std::isfinite(d) && of_allowed <= std::numeric_limits<double>::max()
                         ? of_allowed
                         : std::numeric_limits<double>::infinity();
  if (now > ratio) *this = {d, may_differ + rounding, now};
}

}  // namespace voxshard
