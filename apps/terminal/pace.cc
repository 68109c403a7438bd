#include "apps/terminal/pace.h"

namespace voxshard {

void Pace::update(double seconds, std::int64_t done) {
  if (!begun_at_)
    begun_at_ = done;
  else if (!first_ && done > *begun_at_)
    first_ = done, first_seconds_ = seconds;
  done_ = done, seconds_ = seconds;
}

std::optional<double> Pace::seconds_each() const {
  constexpr double kTooQuick = 0.2;
  if (!first_ || done_ <= *first_ || seconds_ - first_seconds_ < kTooQuick) return std::nullopt;
  return (seconds_ - first_seconds_) / static_cast<double>(done_ - *first_);
}

}  // namespace voxshard
