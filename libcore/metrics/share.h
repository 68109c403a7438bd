// A share of a count or of a time, for scores.
//
//   share(hits, found)     // NaN where nothing was found
#pragma once

#include <limits>

namespace voxshard {

/// The share that `part` is of `whole`, a count or seconds; NaN of nothing, which has no share.
template <typename Whole>
double share(double part, Whole whole) {
  return whole > 0 ? part / static_cast<double>(whole) : std::numeric_limits<double>::quiet_NaN();
}

}  // namespace voxshard
