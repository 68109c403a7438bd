// Sends the results of each core to rank 0 as values of one type: tasks return and take values, and none of them
// serialises bytes itself.
//
//   CoreWork work{.serialise = values_of_cores<BoxCandidate>([](const nlohmann::json& note, const CoreSet& cores,
//   std::size_t core) {
//     return candidates_of(cores, core);
//   })};
//   run_cores(session, work, {.extents = extents, .take = take_values<BoxCandidate>([&](std::size_t core, auto values)
//   { ... })});
#pragma once

#include <algorithm>
#include <type_traits>

#include "pipelines/engine/core_runs.h"

namespace voxshard {

/// Returns any number of values of one core; `note` is CoreRun::note. Threads: several cores at once.
template <class Value>
using ValuesOfCore =
    std::function<std::vector<Value>(const nlohmann::json& note, const CoreSet& cores, std::size_t core)>;

template <class Value>
SerialiseCore values_of_cores(ValuesOfCore<Value> find) {
  static_assert(std::is_trivially_copyable_v<Value>, "values travel as they lie in memory");
  return [find = std::move(find)](const nlohmann::json& note, const CoreSet& cores, std::size_t core) {
    const std::vector<Value> values = find(note, cores, core);
    const auto bytes = std::as_bytes(std::span(values));
    return std::vector<std::byte>(bytes.begin(), bytes.end());
  };
}

/// Passes the values of a core to `take`, on rank 0. Threads: several cores at once. Errors: kInternal when the bytes
/// are no whole number of values.
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
