// Small scenes for the partition tests, as text or, where the seed chooses sizes, made by the builder, cut over any
// mesh.
//
//   Program p = cut("x = input : f32[1x8x6x2] ...", {1, 2, 1, 1});
#pragma once

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "libcore/base/rng.h"
#include "libcore/graph/builder.h"
#include "libcore/graph/text.h"
#include "libcore/ops/op_table.h"
#include "libcore/partition/program.h"
#include "tests/base/print_boxes.h"

namespace voxshard::test {

inline Window same_window(const Shape& x, std::int64_t kernel, std::int64_t stride = 1, std::int64_t dilation = 1) {
  const int axes = x.axes() - 2;
  Window w{Dims::filled(axes, kernel), Dims::filled(axes, stride), Dims::filled(axes, dilation), {}, {}};
  set_same_padding(w, x);
  return w;
}

/// Returns the graph image -> convolution "conv" with SAME padding, 2 filters.
inline Graph conv_graph(const Shape& image, std::int64_t kernel, std::int64_t stride = 1, std::int64_t dilation = 1) {
  Graph graph;
  Builder b(graph, op_table());
  const ValueId x = b.input("image", {DType::kF32, image});
  const Window window = same_window(image, kernel, stride, dilation);
  Shape weights = window.kernel;
  weights.push_back(image.back());
  weights.push_back(2);
  const ValueId w = b.parameter("kernel", {DType::kF32, weights});
  graph.outputs["y"] = b.op("conv", {x, w}, ConvAttrs{.window = window}, "conv");
  return graph;
}

inline Program cut(const Graph& graph, const Dims& partition_dims, std::int64_t replicas = 1) {
  return partition(graph, op_table(), {.mesh = {.replicas = replicas, .partition = partition_dims}});
}

inline Program cut(std::string_view text, const Dims& partition_dims, std::int64_t replicas = 1) {
  return cut(parse_graph(text, op_table()), partition_dims, replicas);
}

inline Program cut(std::string_view text, const Cut& how) {
  return partition(parse_graph(text, op_table()), op_table(), how);
}

/// Returns the index of the first instruction of that kind on the value of that name.
inline std::size_t index_of(const Program& program, InstructionKind kind, const std::string& name) {
  for (std::size_t i = 0; i < program.instructions.size(); ++i)
    if (program.instructions[i].kind == kind && program.graph.node(program.instructions[i].value).name == name)
      return i;
  ADD_FAILURE() << "no such instruction on " << name;
  return 0;
}

inline bool any_has(const std::vector<std::string>& lines, const std::string& piece) {
  for (const auto& line : lines)
    if (line.find(piece) != std::string::npos) return true;
  return false;
}

inline std::string joined(const std::vector<std::string>& lines) {
  std::string text;
  for (const auto& line : lines) text += line + "\n";
  return text;
}

/// Returns a number that encodes its global coordinates.
inline double signature(const Dims& at) {
  double value = 1;
  for (auto i : at) value = value * 37 + static_cast<double>(i);
  return value;
}

}  // namespace voxshard::test
