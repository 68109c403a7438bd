// Recomputation of values that the caller names, not of kinds of them (recompute.h): what a device makes again inside
// the operations that read it.
#pragma once

#include <vector>

#include "libcore/graph/graph.h"

namespace voxshard {

/// `graph` whose backward pass makes the marked results of the forward pass again, right before it reads them. `again`
/// has one entry per value; sums over the sample and what has effects must not be marked. Marks on the backward pass and on what
/// only it reads change nothing: the value itself would be left behind unread. A graph without a backward
/// pass comes back.
Graph with_made_again(const Graph& graph, const std::vector<bool>& again);

}  // namespace voxshard
