#include "libcore/planner/budget.h"

#include "libcore/base/text.h"

namespace voxshard {
namespace {

constexpr std::int64_t kMostCores = 128;  // the largest slice of the original system that spatial partitioning ran on

/// N and the spatial axes of the sample.
Shape extents_of(const Graph& graph) {
  const Shape& image = graph.node(image_of(graph)).type.shape;
  Shape extents;
  for (int a = 0; a + 1 < image.rank(); ++a) extents.push_back(image[a]);
  return extents;
}

std::string over_core_text(const Budget& budget, const Executable& e, const Graph& graph, const OpTable& ops, const Target& target) {
  const std::size_t core = e.bytes.widest();
  const std::int64_t bytes = e.bytes.core(core);
  std::string text = "[memory] the plan needs " + bytes_text(bytes) + " per core (" + std::to_string(bytes) +
                     " bytes, core " + std::to_string(core) + " of partition " + to_string(e.program.mesh().partition) +
                     " on " + to_string(extents_of(graph)) + "), the budget is " + bytes_text(budget.core_bytes) +
                     "; nothing was allocated. Largest allocations of that core:" +
                     allocations_text(largest_allocations(e.program, e.memory, core, 5));
  const auto fits = partition_that_fits(budget.core_bytes, graph, ops, e.program.cut, target);
  return text + (fits ? "\nA partition that fits: " + to_string(*fits)
                      : "\nNo partition up to " + std::to_string(kMostCores) +
                            " cores fits: give more memory, a smaller size or fewer base filters");
}

}  // namespace

Executable lower_within(const Budget& budget, const Graph& graph, const OpTable& ops, const Cut& cut, const Target& target) {
  Executable e = lower(graph, ops, cut, target);
  if (budget.core_bytes > 0 && e.bytes.widest_core() > budget.core_bytes)
    throw Error(ErrorKind::kBudget, over_core_text(budget, e, graph, ops, target));
  const std::int64_t process = e.bytes.process();
  if (budget.process_bytes > 0 && process > budget.process_bytes)
    throw Error(ErrorKind::kBudget, "[memory] all cores together need " + bytes_text(process) + " (" + std::to_string(process) +
                                        " bytes) in this process, the budget is " + bytes_text(budget.process_bytes) +
                                        "; nothing was allocated. Recompute more ({recompute} upsampling), or let "
                                        "{partition} auto choose");
  return e;
}

std::optional<Dims> partition_that_fits(std::int64_t core_bytes, const Graph& graph, const OpTable& ops, const Cut& cut,
                                        const Target& target) {
  const Shape extents = extents_of(graph);
  Mesh mesh = cut.mesh;
  while (mesh.cores() * 2 <= kMostCores) {
    int widest = -1;
    for (int axis = 1; axis < extents.rank(); ++axis)
      if (mesh.partition[axis] * 2 <= extents[axis] &&
          (widest < 0 || extents[axis] * mesh.partition[widest] > extents[widest] * mesh.partition[axis]))
        widest = axis;
    if (widest < 0) return std::nullopt;
    mesh.partition[widest] *= 2;
    if (lower(graph, ops, cut.over(mesh), target).bytes.widest_core() <= core_bytes) return mesh.partition;
  }
  return std::nullopt;
}

ValueId image_of(const Graph& graph) {
  ValueId image = kNoValue;
  for (ValueId id = 0; id < graph.size(); ++id) {
    const Node& node = graph.node(id);
    if (node.role == Role::kInput &&
        (image == kNoValue || element_count(node.type.shape) > element_count(graph.node(image).type.shape)))
      image = id;
  }
  if (image == kNoValue) throw Error(ErrorKind::kConfig, "[plan] the model has no input that could be cut");
  return image;
}

std::string allocations_text(const std::vector<Allocation>& allocations) {
  std::string text;
  for (const Allocation& a : allocations)
    text += "\n  " + bytes_text(a.bytes) + "  " + a.layer + "  " + std::string(dtype_name(a.type.dtype)) + "[" +
            to_string(a.box.extent) + "]  unpadded " + bytes_text(a.unpadded_bytes);
  return text;
}

}  // namespace voxshard
