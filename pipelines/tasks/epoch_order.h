// The order in which the items of a data set come: every epoch all of them, in a new order that depends on the seed
// alone, so that a resumed run goes on where it was.
//
//   const std::size_t item = item_of(seed, 17, 5);   // sample 17 of 5 items: the third item of the fourth epoch
//   EpochOrder order(seed, 60000);                   // the same for many items: an epoch's order is made once
//   order.item_of(17);
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace voxshard {

/// The item of the sample with that number, 0 to count - 1.   Cost: count.
std::size_t item_of(std::uint64_t seed, std::int64_t sample, std::size_t count);

/// Remembers the epoch that was asked for last. Threads: one at a time.
class EpochOrder {
 public:
  /// `count` is at least 1.
  EpochOrder(std::uint64_t seed, std::size_t count) : seed_(seed), count_(count) {}
  std::size_t count() const { return count_; }
  /// As above.   Cost: count for the first sample of another epoch.
  std::size_t item_of(std::int64_t sample);

 private:
  std::uint64_t seed_;
  std::size_t count_;
  std::int64_t epoch_ = -1;
  std::vector<std::size_t> order_;
};

}  // namespace voxshard
