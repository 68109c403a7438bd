// What the clock of rank 0 shows: each rank has a clock of its own, and a profile of all of them needs one.
//
//   const ClockOffset ahead = offset_to_first(transport, [&] { return recorder.now_s(); });
//   event.begin_s + ahead.seconds        // on the clock of rank 0
//
// A rank asks rank 0 what time it is, several times, and believes the quickest answer: it was given halfway.
#pragma once

#include <functional>

#include "libcore/ranks/transport.h"

namespace voxshard {

struct ClockOffset {
  double seconds = 0;       // to be added to this rank's clock
  double round_trip_s = 0;  // of the quickest question; `seconds` is off by at most half of it
};

/// All ranks ask at the same place. `now_s`: this rank's clock.   Cost: some 20 short messages per rank, one rank after
/// another.
ClockOffset offset_to_first(Transport& transport, const std::function<double()>& now_s);

}  // namespace voxshard
