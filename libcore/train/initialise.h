// Initial parameters and states, as specified by their nodes (graph/initial.h).
//
//   Parameters parameters = initialise(graph, seed);   // a value depends on seed, name and index alone
#pragma once

#include "libcore/runtime/core_set.h"

namespace voxshard {

Parameters initialise(const Graph& graph, std::uint64_t seed);

/// Checks that `parameters` are those of `graph`. Errors: kCheckpoint names the first missing, extra or differing
/// tensor.
void require_parameters_of(const Graph& graph, const Parameters& parameters);

}  // namespace voxshard
