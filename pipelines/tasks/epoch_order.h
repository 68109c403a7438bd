// The order in which the items of a data set come: every epoch all of them, in a new order that depends on the seed
// alone, so that a resumed run goes on where it was.
//
//   const std::size_t item = item_of(seed, 17, 5);   // sample 17 of 5 items: the third item of the fourth epoch
#pragma once

#include <cstddef>
#include <cstdint>

namespace voxshard {

/// The item of the sample with that number, 0 to count - 1.   Cost: count.
std::size_t item_of(std::uint64_t seed, std::int64_t sample, std::size_t count);

}  // namespace voxshard
