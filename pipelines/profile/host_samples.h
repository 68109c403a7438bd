// What `voxshard doctor` measures, as data: for each op and stored type a grid of channels and sizes, and the use of the op
// at a point of that grid.
//
//   for (const HostSamples& s : host_samples({.quick = false}))
//     for (point of s.table.axes) if (auto use = s.use(point)) ... time op_probe(op_table(), *use) ...
#pragma once

#include <optional>

#include "libcore/device/host_rates.h"
#include "pipelines/profile/op_probe.h"

namespace voxshard {

struct HostSamples {
  using Point = std::array<double, RateTable::kMostAxes>;
  RateTable table;  // without values
  /// What to time at a point; nothing where that would take too long (the nearest smaller point stands for it).
  std::function<std::optional<Probe>(const Point&)> use;
};

struct SampleOptions {
  bool quick = false;  // fewer points
  double most_flops = 2e9;  // of one call
};

std::vector<HostSamples> host_samples(const SampleOptions& options);

}  // namespace voxshard
