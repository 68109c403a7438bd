// Converts times to the clock of rank 0: each rank has its own clock, and a profile of all ranks needs a common one.
//
//   const ClockOffset ahead = offset_to_first(transport, [&] { return recorder.now_s(); });
//   event.begin_s + ahead.seconds        // on the clock of rank 0
//
// A rank asks rank 0 for its time, several times, and uses the answer with the shortest round trip, which it assumes
// was given halfway through.
#pragma once

#include <functional>

#include "libcore/ranks/transport.h"

namespace voxshard {

struct ClockOffset {
  double seconds = 0;       // to be added to this rank's clock
  double round_trip_s = 0;  // shortest round trip; `seconds` is off by at most half of it
};

/// Measures this rank's offset; all ranks call it at the same place. `now_s`: this rank's clock.   Cost: some 20 short
/// messages per rank, one rank after another.
ClockOffset offset_to_first(Transport& transport, const std::function<double()>& now_s);

}  // namespace voxshard
