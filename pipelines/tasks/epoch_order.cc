#include "pipelines/tasks/epoch_order.h"

#include <numeric>
#include <vector>

#include "libcore/base/rng.h"

namespace voxshard {

std::size_t item_of(std::uint64_t seed, std::int64_t sample, std::size_t count) {
  const auto items = static_cast<std::int64_t>(count), epoch = sample / items;
  std::vector<std::size_t> order(count);
  std::iota(order.begin(), order.end(), std::size_t{0});
  const RngKey key{seed + static_cast<std::uint64_t>(epoch) * 0x9e3779b97f4a7c15ULL, rng_stream("shuffle")};
  for (std::size_t i = count - 1; i > 0; --i)  // Fisher-Yates
    std::swap(order[i], order[static_cast<std::size_t>(rng_below(key, i, static_cast<std::int64_t>(i) + 1))]);
  return order[static_cast<std::size_t>(sample % items)];
}

}  // namespace voxshard
