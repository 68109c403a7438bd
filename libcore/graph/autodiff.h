// Reverse-mode differentiation, graph to graph: appends the gradient nodes of a scalar loss and fills graph.gradients.
#pragma once

#include "libcore/graph/builder.h"

namespace voxshard {

/// Appends d loss / d p for every parameter p that `loss` depends on. Several gradients of one value are added in graph
/// order. Errors: kConfig when an op on the way has no gradient.
void differentiate(Builder& builder, ValueId loss);

/// Returns `graph` with the gradient of its output "loss". A graph without a loss, or that has its gradient, comes back
/// as it is.
Graph with_gradient(Graph graph, const OpTable& ops);

}  // namespace voxshard
