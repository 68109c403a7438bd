#include "libcore/partition/layout.h"

#include <algorithm>

namespace voxshard {
namespace {

Dims leading(const Shape& shape) {
  Dims key;
  for (int a = 0; a + 1 < shape.rank(); ++a) key.push_back(shape[a]);
  return key;
}

/// Merges neighbouring parts two by two, onto the first, until the widest has `thinnest` planes.
void merge_thin(std::vector<Interval>& parts, std::int64_t thinnest) {
  auto widest = [&] {
    std::int64_t planes = 0;
    for (const auto& [begin, end] : parts) planes = std::max(planes, end - begin);
    return planes;
  };
  for (std::size_t group = 2; widest() < thinnest && group / 2 < parts.size(); group *= 2) {
    for (std::size_t first = 0; first < parts.size(); first += group) {
      const std::size_t last = std::min(first + group, parts.size()) - 1;
      const std::int64_t end = parts[last].second;
      parts[first].second = end;
      for (std::size_t p = first + 1; p <= last; ++p) parts[p] = {end, end};
    }
  }
}

/// Whether each entry of `grid` divides each spatial extent, as the original asks of a level's targets.
///   example: 24 x 24 over 1x4x2x1 yes, 6 x 6 no
bool divides(const Dims& grid, const Shape& shape) {
  for (auto parts : grid)
    for (int a = 1; a + 1 < shape.rank(); ++a)
      if (shape[a] % parts != 0) return false;
  return true;
}

}  // namespace

Box Layout::box(const Mesh& mesh, std::int64_t core, const Shape& shape) const {
  if (replicated) return Box::whole(shape);
  Box box = Box::whole(shape);
  const Dims part = over(mesh).part_of(core);
  for (int a = 0; a < static_cast<int>(axes.size()); ++a) {
    const auto& [begin, end] = axes[static_cast<std::size_t>(a)][static_cast<std::size_t>(part[a])];
    box.set(a, begin, end);
  }
  return box.empty() ? Box::none(shape.rank()) : box;
}

std::vector<Box> Layout::boxes(const Mesh& mesh, const Shape& shape) const {
  std::vector<Box> boxes;
  for (std::int64_t core = 0; core < (replicated ? 1 : mesh.cores()); ++core) boxes.push_back(box(mesh, core, shape));
  return boxes;
}

Layout LayoutTable::of_input(const Shape& shape, const InputPlacement& placement) const {
  Layout layout{.replicated = false, .grid = placement.grid};
  const Dims& grid = placement.grid.empty() ? mesh_.partition : placement.grid;
  if (shape.rank() != grid.rank())
    throw Error(ErrorKind::kConfig, "[partition] the partition " + to_string(grid) + " has " +
                                        std::to_string(grid.rank()) + " entries, but the input tensor " +
                                        to_string(shape) + " has " + std::to_string(shape.rank()) + " axes");
  if (element_count(grid) != mesh_.cores_per_replica())
    throw Error(ErrorKind::kConfig, "[partition] the partition " + to_string(grid) + " of an input is over " +
                                        std::to_string(element_count(grid)) + " cores, but a replica has " +
                                        std::to_string(mesh_.cores_per_replica()) + "; make them equal");
  const bool cut = placement.kind == InputPlacement::Kind::kCut ||
                   (placement.kind == InputPlacement::Kind::kWhereDivisible && divides(grid, shape));
  for (int a = 0; a + 1 < shape.rank(); ++a) {
    layout.axes.push_back(cut_anew(shape, a, grid));
    if (cut) continue;
    auto& parts = layout.axes.back();
    const std::size_t stride = static_cast<std::size_t>(grid[a]);  // the parts of one replica (of all, but along N)
    for (std::size_t first = 0; first < parts.size(); first += stride) {
      const Interval all{parts[first].first, parts[first + stride - 1].second};
      for (std::size_t p = 0; p < stride; ++p)
        parts[first + p] = placement.kind != InputPlacement::Kind::kFirstCore || p == 0 ? all : Interval{all.second, all.second};
    }
  }
  return layout;
}

std::vector<Interval> LayoutTable::cut_anew(const Shape& shape, int axis, const Dims& grid) const {
  const Dims& parts = grid.empty() ? mesh_.partition : grid;
  if (axis > 0) return greedy_ceil(shape[axis], parts[axis]);
  std::vector<Interval> cut;
  for (const auto& [begin, end] : greedy_ceil(shape[0], mesh_.replicas))
    for (const auto& [b, e] : greedy_ceil(end - begin, parts[0])) cut.emplace_back(begin + b, begin + e);
  return cut;
}

Layout LayoutTable::carried(const OpDef& def, const OpContext& op, const Layout& from, const Shape& from_shape) {
  Layout layout = from;
  for (int a = 0; a < static_cast<int>(from.axes.size()); ++a) {
    if (from_shape[a] == op.result.shape[a]) continue;
    if (a == 0 || def.boundary == nullptr) {  // a concat along N, a slice: no boundary of the input means anything here
      layout.axes[static_cast<std::size_t>(a)] = cut_anew(op.result.shape, a, from.grid);
      continue;
    }
    auto move = [&](std::int64_t boundary) {
      if (boundary == 0) return std::int64_t{0};
      if (boundary == from_shape[a]) return op.result.shape[a];
      return std::min(op.result.shape[a], def.boundary(op, a, boundary));
    };
    for (auto& [begin, end] : layout.axes[static_cast<std::size_t>(a)]) {
      begin = move(begin);
      end = move(end);
    }
    if (a > 0) merge_thin(layout.axes[static_cast<std::size_t>(a)], cut_.thinnest_slab);
  }
  return layout;
}

Layout LayoutTable::of_contraction(const OpDef& def, const OpContext& op, const Layout& driver) {
  if (driver.replicated) return {};
  const Shape& shape = op.inputs[static_cast<std::size_t>(def.driver)].shape;
  Layout layout{.replicated = false, .grid = driver.grid};
  bool whole = true;
  std::vector<Interval> first_axis;
  for (const auto& [begin, end] : driver.axes[0]) {
    Box iteration = Box::whole(shape);
    iteration.set(0, begin, end);
    if (iteration.empty()) {
      first_axis.emplace_back(0, 0);
      continue;
    }
    const Box box = result_box(def, op, iteration);
    whole = whole && box == Box::whole(op.result.shape);
    first_axis.emplace_back(box.begin[0], box.end(0));
  }
  if (whole) return {};
  layout.axes.push_back(std::move(first_axis));
  return layout;
}

bool LayoutTable::is_placed(const Node& node) const {
  return node.role == Role::kInput && cut_.placement_of(node.name) != nullptr;
}

Layout LayoutTable::of(const Graph& graph, ValueId id, const std::vector<Layout>& earlier) {
  const Node& node = graph.node(id);
  const Shape& shape = node.type.shape;
  if (node.role == Role::kParameter || node.role == Role::kState) return {};
  const Dims key = leading(shape);
  if (node.role == Role::kInput) {
    if (const InputPlacement* placement = cut_.placement_of(node.name)) return of_input(shape, *placement);
    auto known = by_extents_.find(key);
    if (known == by_extents_.end()) known = by_extents_.emplace(key, of_input(shape, {})).first;
    return known->second;
  }
  const OpDef& def = ops_.at(node.op);
  const auto types = graph.input_types(id);
  const OpContext op{node.attrs, types, node.type};
  if (def.driver >= 0) {
    return of_contraction(def, op, earlier[static_cast<std::size_t>(node.inputs[static_cast<std::size_t>(def.driver)])]);
  }
  ValueId first_cut = kNoValue;
  for (ValueId i : node.inputs)
    if (!earlier[static_cast<std::size_t>(i)].replicated &&
        (first_cut == kNoValue || (is_placed(graph.node(first_cut)) && !is_placed(graph.node(i)))))
      first_cut = i;
  if (first_cut == kNoValue) return {};
  const Layout& from = earlier[static_cast<std::size_t>(first_cut)];
  const Shape& from_shape = graph.node(first_cut).type.shape;
  if (leading(from_shape) == key) return from;
  if (const auto known = by_extents_.find(key); known != by_extents_.end()) return known->second;
  return by_extents_.emplace(key, carried(def, op, from, from_shape)).first->second;
}

}  // namespace voxshard
