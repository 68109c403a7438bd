#include "libcore/device/tpu/link_price.h"

#include <algorithm>
#include <set>

namespace voxshard {

ExchangePricer::ExchangePricer(const TpuSpec& device, const Torus& torus) : device_(device), torus_(torus) {}

InstructionPrice ExchangePricer::price(std::span<const Copy> copies, std::int64_t element_bytes) {
  link_bytes_.assign(static_cast<std::size_t>(torus_.links()), 0);
  path_bytes_.assign(static_cast<std::size_t>(torus_.cores()), 0);
  core_bytes_.assign(static_cast<std::size_t>(torus_.cores()), 0);
  InstructionPrice price{.messages = static_cast<std::int64_t>(copies.size())};
  for (const Copy& copy : copies) {
    const double bytes = static_cast<double>(copy.box.count() * element_bytes);
    price.bytes += bytes;
    price.hops = std::max(price.hops, torus_.hops(copy.from, copy.to));
    core_bytes_[copy.from] += bytes;
    core_bytes_[copy.to] += bytes;
    if (torus_.chip(copy.from) == torus_.chip(copy.to)) path_bytes_[copy.from] += bytes;
    torus_.route(copy.from, copy.to, [&](std::int64_t link) { link_bytes_[link] += bytes; });
  }
  auto most = [](const std::vector<double>& bytes) { return *std::max_element(bytes.begin(), bytes.end()); };
  price.slowest = {
      .memory_s = most(core_bytes_) / device_.memory_bytes_s,
      .link_s = std::max(most(link_bytes_) / device_.link_bytes_s, most(path_bytes_) / device_.core_path_bytes_s),
      .overhead_s = device_.dispatch_s + price.hops * device_.hop_s};
  return price;
}

InstructionPrice all_reduce_price(const TpuSpec& device, const Torus& torus, std::span<const std::int64_t> cores,
                                  double bytes) {
  InstructionPrice price;
  if (cores.size() < 2) return price;
  std::set<std::int64_t> chips;
  Place low = torus.place(cores[0]), high = low;
  for (std::int64_t core : cores) {
    const Place& at = torus.place(core);
    chips.insert(torus.chip(core));
    low = {std::min(low.x, at.x), std::min(low.y, at.y), 0};
    high = {std::max(high.x, at.x), std::max(high.y, at.y), 0};
  }
  // A stage among n: each member sends (n - 1) / n of the bytes on the way to the sum and as much on the way back.
  auto sent = [](std::int64_t n) { return 2 * static_cast<double>(n - 1) / static_cast<double>(n); };
  const auto count = static_cast<std::int64_t>(cores.size()), chip_count = static_cast<std::int64_t>(chips.size());
  const std::int64_t x = high.x - low.x + 1, y = high.y - low.y + 1;
  // Both directions of a closed ring carry half each; that halves the steps too.
  const double line_x = torus.slice().wrap_x && x == torus.slice().chips_x ? 0.5 : 1;
  const double line_y = torus.slice().wrap_y && y == torus.slice().chips_y ? 0.5 : 1;
  price.slowest.link_s = sent(ceil_div(count, chip_count)) * bytes / device.core_path_bytes_s +
                         (line_x * sent(x) + line_y * sent(y) / static_cast<double>(x)) * bytes / device.link_bytes_s;
  price.slowest.memory_s = 4 * bytes / device.memory_bytes_s;  // read and written on the way to the sum and back
  price.slowest.overhead_s =
      device.dispatch_s +
      2 * (line_x * static_cast<double>(x - 1) + line_y * static_cast<double>(y - 1)) * device.hop_s;
  price.bytes = 2 * static_cast<double>(count - 1) * bytes;
  price.messages = 2 * (count - chip_count) + chip_count * 2 * (x - 1 + y - 1);
  price.hops = chip_count > 1 ? 1 : 0;
  return price;
}

}  // namespace voxshard
