#include "pipelines/tpu/tpu_config_loop.h"

#include <charconv>

#include "libcore/base/error.h"

namespace voxshard {

IterationsPerLoop iterations_per_loop_from_text(std::string_view text) {
  constexpr std::int64_t kMost = 1'000'000'000;  // keeps hours in seconds far from overflow
  std::int64_t number = 0;
  const auto [stop, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  const std::string_view unit(stop, static_cast<std::size_t>(text.data() + text.size() - stop));
  const bool starts_well = !text.empty() && text[0] >= '1' && text[0] <= '9';
  if (starts_well && error == std::errc() && number <= kMost) {
    if (unit.empty()) return {.steps = number};
    if (unit == "s") return {.steps = 0, .duration_s = number};
    if (unit == "m") return {.steps = 0, .duration_s = 60 * number};
    if (unit == "h") return {.steps = 0, .duration_s = 3600 * number};
  }
  throw Error(ErrorKind::kConfig, "[tpu_config] iterations_per_loop is \"" + std::string(text) +
                                      "\"; expected a positive whole number of steps (at most 1000000000) like 100, or "
                                      "a time in seconds, minutes or hours like 3600s, 60m or 1h");
}

std::string to_text(const IterationsPerLoop& loop) {
  return loop.duration_s > 0 ? std::to_string(loop.duration_s) + "s" : std::to_string(loop.steps);
}

}  // namespace voxshard
