#include "pipelines/tasks/epoch_order.h"

#include <numeric>

#include "libcore/base/rng.h"

namespace voxshard {

std::size_t EpochOrder::item_of(std::int64_t sample) {
  const auto items = static_cast<std::int64_t>(count_), epoch = sample / items;
  if (epoch != epoch_) {
    order_.resize(count_);
    std::iota(order_.begin(), order_.end(), std::size_t{0});
    const RngKey key{seed_ + static_cast<std::uint64_t>(epoch) * 0x9e3779b97f4a7c15ULL, rng_stream("shuffle")};
    for (std::size_t i = count_ - 1; i > 0; --i)  // Fisher-Yates
      std::swap(order_[i], order_[rng_below(key, i, static_cast<std::int64_t>(i) + 1)]);
    epoch_ = epoch;
  }
  return order_[sample % items];
}

std::size_t item_of(std::uint64_t seed, std::int64_t sample, std::size_t count) {
  return EpochOrder(seed, count).item_of(sample);
}

}  // namespace voxshard
