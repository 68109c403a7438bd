// The measurements of `voxshard doctor`: for each op of a table (OpDef::sample) and stored type a grid of channels and
// sizes, and the same for the engine's own copies.
//
//   for (const HostSamples& s : host_samples(op_table(), {.quick = false}))
//     for (point of s.table.axes) if (auto probe = s.use(point)) ... time it ...
#pragma once

#include <optional>

#include "libcore/device/host/host_rates.h"
#include "pipelines/profile/op_probe.h"

namespace voxshard {

struct HostSamples {
  using Point = std::array<double, RateTable::kMostAxes>;
  RateTable table;  // without values
  /// Returns the probe to time at a point; nullopt where it would take too long or its kernel does not support it (the
  /// nearest smaller point then replaces it, else the nearest larger).
  std::function<std::optional<Probe>(const Point&)> use;
};

struct SampleOptions {
  bool quick = false;       // fewer points
  double most_flops = 2e9;  // of one call
};

/// `ops` must outlive the samples. An op without a sample is left out; pricing a program with it is then refused.
std::vector<HostSamples> host_samples(const OpTable& ops, const SampleOptions& options);

}  // namespace voxshard
