#include "libcore/ranks/rank_clock.h"

#include <limits>

namespace voxshard {

ClockOffset offset_to_first(Transport& transport, const std::function<double()>& now_s) {
  constexpr int kQuestions = 20;
  double time_s = 0;
  const auto bytes = std::as_writable_bytes(std::span(&time_s, 1));
  if (transport.rank() == 0) {
    for (int from = 1; from < transport.ranks(); ++from)
      for (int i = 0; i < kQuestions; ++i) {
        transport.receive(from, kClockTag, bytes);
        time_s = now_s();
        transport.send(from, kClockTag, bytes);
      }
    return {};
  }
  ClockOffset quickest{.round_trip_s = std::numeric_limits<double>::infinity()};
  for (int i = 0; i < kQuestions; ++i) {
    const double asked_s = now_s();
    transport.send(0, kClockTag, bytes);
    transport.receive(0, kClockTag, bytes);
    const double received_s = now_s();
    if (received_s - asked_s < quickest.round_trip_s)
      quickest = {.seconds = time_s - (asked_s + received_s) / 2, .round_trip_s = received_s - asked_s};
  }
  return quickest;
}

}  // namespace voxshard
