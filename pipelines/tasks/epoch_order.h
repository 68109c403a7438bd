// The order of the items of a data set: every epoch visits all of them, in a new order that depends on the seed alone,
// so that a resumed run continues with the same samples.
//
//   const std::size_t item = item_of(seed, 17, 5);   // sample 17 of 5 items: the third item of the fourth epoch
//   EpochOrder order(seed, 60000);                   // the same for many items: an epoch's order is made once
//   order.item_of(17);
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace voxshard {

/// Returns the item of the sample with that number, 0 to count - 1.   Cost: count.
std::size_t item_of(std::uint64_t seed, std::int64_t sample, std::size_t count);

/// Keeps the order of the epoch that was used last. Threads: one at a time.
class EpochOrder {
 public:
  /// `count` is at least 1.
  EpochOrder(std::uint64_t seed, std::size_t count) : seed_(seed), count_(count) {}
  std::size_t count() const { return count_; }
  /// The same as the function above.   Cost: count for the first sample of another epoch.
  std::size_t item_of(std::int64_t sample);

 private:
  std::uint64_t seed_;
  std::size_t count_;
  std::int64_t epoch_ = -1;
  std::vector<std::size_t> order_;
};

}  // namespace voxshard
