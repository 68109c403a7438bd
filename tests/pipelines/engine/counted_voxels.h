// Work of which each core gives as many bytes as it has voxels of the logits, for tests of runs of cores.
//
//   coordinate(session, counting(), {}, [&] { EXPECT_EQ(counted(session, {1, 8, 8, 8}), 512 * classes); });
#pragma once

#include <gtest/gtest.h>

#include <atomic>

#include "tests/pipelines/rank_sessions.h"

namespace voxshard::test {

/// Work that serialises as many bytes as the core owns voxels of the logits.
inline CoreWork counting() {
  return {.serialise = [](const nlohmann::json& note, const CoreSet& cores, std::size_t core) {
    EXPECT_EQ(note, "a note");
    const auto voxels =
        static_cast<std::size_t>(cores.owned(cores.executable().program.graph.outputs.at("logits"), core).box.count());
    return std::vector<std::byte>(voxels);
  }};
}

inline std::size_t counted(Session& session, const Shape& extents) {
  std::atomic<std::size_t> all = 0;
  run_cores(session, counting(),
            {.extents = extents,
             .note = "a note",
             .fill = fill_with_places,
             .take = [&](std::size_t, std::span<const std::byte> bytes) { all += bytes.size(); }});
  return all;
}

}  // namespace voxshard::test
