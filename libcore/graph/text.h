// The text form of a graph, one line per node, and its parser: parse_graph(to_text(graph), ops) == graph.
//
//   %0 image = input : f32[1x48x40x1]
//   %1 stem/kernel = parameter begins=glorot_uniform decays=true : f32[3x3x1x8]
//   %2 stem = conv %0, %1 kernel=3x3 stride=1x1 dilation=1x1 pad=1x1/1x1 : f32[1x48x40x8]
//   output logits = %2
//   gradient stem/kernel = %9            effect norm/moments <- %7            backward %5
//
// Attributes with their default value are not written. A handwritten text may leave out more: ids, the type of an op's
// result (inferred), and a window's stride, dilation and padding (1, 1, none). It may refer to an input by name
// (%stem/kernel). Lines that begin with # are comments.
#pragma once

#include <string_view>

#include "libcore/graph/op_def.h"

namespace voxshard {

/// Writes one line per node, in a stable form.
std::string to_text(const Graph& graph);

/// Parses a graph, which is valid by verify(). Errors: kConfig names the line and what is wrong with it.
Graph parse_graph(std::string_view text, const OpTable& ops);

/// Parses the lines from `at` up to one that begins with `end`, which is left unread; for texts that contain a graph.
class LineScanner;
Graph parse_graph(std::vector<LineScanner>& lines, std::size_t& at, std::string_view end, const OpTable& ops);

}  // namespace voxshard
