#include "libcore/device/host/host_rates.h"

#include <algorithm>
#include <cmath>

#include "libcore/base/error.h"

namespace voxshard {
namespace {

/// The place of a coordinate on an axis: between points `low` and `low` + 1, `share` of the way in logarithms.
struct Place {
  std::size_t low = 0;
  double share = 0;
};

Place place_on(const std::vector<double>& points, double x) {
  if (points.size() < 2 || !(x > points.front())) return {};
  if (x >= points.back()) return {points.size() - 2, 1.0};
  const auto above = std::upper_bound(points.begin(), points.end(), x);
  const auto low = static_cast<std::size_t>(above - points.begin()) - 1;
  return {low, std::log(x / points[low]) / std::log(points[low + 1] / points[low])};
}

}  // namespace

RateWindow rate_window(const Attributes& attrs, const Work& work) {
  if (work.products.count <= 0) return {};
  const Window* window = window_of(attrs);
  const std::int64_t taps = window == nullptr ? 1 : window->volume();
  return {.taps = static_cast<int>(taps),
          .patch = taps > 1 && window->kernel == window->stride,
          .kernel = kernel_of(attrs)};
}

double RateTable::at(const std::array<double, kMostAxes>& coordinates) const {
  std::array<Place, kMostAxes> places;
  for (std::size_t a = 0; a < axes.size(); ++a) places[a] = place_on(axes[a].points, coordinates[a]);
  double logarithm = 0;
  for (std::size_t corner = 0; corner < (std::size_t{1} << axes.size()); ++corner) {
    double weight = 1;
    std::size_t index = 0;
    for (std::size_t a = 0; a < axes.size(); ++a) {
      const bool high = (corner >> a & 1U) != 0;
      weight *= high ? places[a].share : 1 - places[a].share;
      index = index * axes[a].points.size() + std::min(places[a].low + (high ? 1 : 0), axes[a].points.size() - 1);
    }
    if (weight > 0) logarithm += weight * std::log(values[index]);
  }
  return std::exp(logarithm);
}

const RateTable& HostRates::at(std::string_view op, DType stored, RateWindow window) const {
  const RateTable* best = nullptr;
  double least = 0;
  for (const RateTable& table : tables) {
    if (table.op != op) continue;
    // A wrong type costs less than a wrong kind of window: the same loops run.
    const double taps =
        std::abs(std::log(static_cast<double>(std::max(1, table.window.taps)) / std::max(1, window.taps)));
    const double distance = taps + (table.window.kernel != window.kernel ? 1000 : 0) +
                            (table.window.patch != window.patch ? 100 : 0) + (table.stored != stored ? 10 : 0);
    if (best != nullptr && distance >= least) continue;
    best = &table;
    least = distance;
  }
  if (best == nullptr)
    throw Error(ErrorKind::kConfig,
                "[device] this machine was measured without \"" + std::string(op) + "\"; run voxshard doctor again");
  return *best;
}

DType stored_type(std::span<const TensorType> inputs, const TensorType& result) {
  if (result.dtype == DType::kBF16) return DType::kBF16;
  for (const TensorType& input : inputs)
    if (input.dtype == DType::kBF16) return DType::kBF16;
  for (const TensorType& input : inputs)
    if (input.dtype == DType::kF32) return DType::kF32;
  return result.dtype == DType::kF64 || inputs.empty() ? result.dtype : inputs[0].dtype;
}

}  // namespace voxshard
