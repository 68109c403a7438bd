// What each core found in a run, as values of one type, on their way to the process that leads: tasks say and take values, nobody
// packs bytes.
//
//   RankWork work = work_of_cores<BoxCandidate>([](const nlohmann::json& note, const CoreSet& cores, std::size_t core) {
//     return candidates_of(cores, core);
//   });
//   run_led(session, work, {.extents = extents, .take = take_values<BoxCandidate>([&](std::size_t core, auto values) { ... })});
#pragma once

#include <algorithm>
#include <type_traits>

#include "pipelines/runs/lead.h"

namespace voxshard {

/// The values of one core, of which any number may be; `note` is that of the run. Threads: several cores at once.
template <class Value>
using ValuesOfCore = std::function<std::vector<Value>(const nlohmann::json& note, const CoreSet& cores, std::size_t core)>;

/// What every process does for its own cores: `find` after a run; `fill` before it, where each core fills its own box.
template <class Value>
RankWork work_of_cores(ValuesOfCore<Value> find,
                       std::function<void(const nlohmann::json& note, const TensorView& box)> fill = {}) {
  static_assert(std::is_trivially_copyable_v<Value>, "values travel as they lie in memory");
  return {.fill = std::move(fill), .pack = [find = std::move(find)](const nlohmann::json& note, const CoreSet& cores, std::size_t core) {
            const std::vector<Value> values = find(note, cores, core);
            const auto bytes = std::as_bytes(std::span(values));
            return std::vector<std::byte>(bytes.begin(), bytes.end());
          }};
}

/// Hands what a core found to `take`, in the process that leads. Threads: several cores at once. Errors: kInternal for a part of a
/// value.
template <class Value>
TakeCore take_values(std::function<void(std::size_t core, std::span<const Value> values)> take) {
  return [take = std::move(take)](std::size_t core, std::span<const std::byte> bytes) {
    ensure(bytes.size() % sizeof(Value) == 0, "a core gives whole values");
    std::vector<Value> values(bytes.size() / sizeof(Value));
    std::copy_n(bytes.data(), bytes.size(), reinterpret_cast<std::byte*>(values.data()));
    take(core, values);
  };
}

}  // namespace voxshard
