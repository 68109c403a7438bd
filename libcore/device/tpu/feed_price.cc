#include "libcore/device/tpu/feed_price.h"

#include <algorithm>
#include <map>

namespace voxshard {

HostLoad host_load(const Torus& torus, const Placement& placement, const Feed& feed) {
  const double replicas = static_cast<double>(placement.replicas),
               cores = static_cast<double>(placement.cores_per_replica);
  std::map<std::int64_t, HostLoad> hosts;
  std::map<std::int64_t, double> chips;
  for (std::int64_t replica = 0; replica < placement.replicas; ++replica) {
    const std::int64_t first = replica * placement.cores_per_replica;
    HostLoad& host = hosts[torus.host(first)];
    host.record_bytes += feed.record_bytes / replicas;
    for (std::int64_t core = first; core < first + placement.cores_per_replica; ++core) {
      const double bytes = feed.transfer_bytes / replicas / cores;
      if (torus.host(core) != torus.host(first)) host.network_bytes += bytes;
      chips[torus.chip(core)] += bytes;
    }
  }
  HostLoad busiest{.feeding_hosts = static_cast<std::int64_t>(hosts.size())};
  for (const auto& [id, host] : hosts) {
    busiest.record_bytes = std::max(busiest.record_bytes, host.record_bytes);
    busiest.network_bytes = std::max(busiest.network_bytes, host.network_bytes);
  }
  for (const auto& [chip, bytes] : chips) busiest.chip_bytes = std::max(busiest.chip_bytes, bytes);
  return busiest;
}

double feed_seconds(const TpuSpec& device, const HostLoad& load) {
  return std::max({load.record_bytes / device.unpack_bytes_s, load.network_bytes / device.network_bytes_s,
                   load.chip_bytes / device.transfer_bytes_s});
}

}  // namespace voxshard
