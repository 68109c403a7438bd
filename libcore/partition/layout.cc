#include "libcore/partition/layout.h"

#include <algorithm>

namespace voxshard {
namespace {

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

/// True when each entry of `grid` divides each spatial extent, as the original requires of a level's targets.
///   example: 24 x 24 over 1x4x2x1 yes, 6 x 6 no
bool divides(const Dims& grid, const Shape& shape) {
  for (auto parts : grid)
    for (int a = 1; a + 1 < shape.axes(); ++a)
      if (shape[a] % parts != 0) return false;
  return true;
}

class Propagation {
 public:
  Propagation(const Graph& graph, const OpTable& ops, const Cut& cut)
      : graph_(graph), ops_(ops), cut_(cut), mesh_(cut.mesh) {}

  Layouts run() {
    for (ValueId id = 0; id < graph_.size(); ++id) {
      const LayoutReason why = reason(id);
      all_.layouts.push_back(layout(id, why));
      all_.reasons.push_back(why);
    }
    return std::move(all_);
  }

 private:
  using Kind = LayoutReason::Kind;

  /// True for inputs that every core reads whole: one that is not per sample, or one with numbers of samples but
  /// without the spatial axes that the mesh cuts.
  bool is_whole(const Shape& input) const {
    return input.axes() == 1 || (input.axes() == 2 && mesh_.partition.axes() > 2);
  }

  const Layout& of(ValueId id) const { return all_.layouts[id]; }
  bool is_placed(ValueId id) const { return all_.reasons[id].kind == Kind::kPlaced; }

  LayoutReason reason(ValueId id) const {
    const Node& node = graph_.node(id);
    if (node.role == Role::kParameter || node.role == Role::kState) return {};
    const bool follows = node.follows != kNoValue && !of(node.follows).replicated;
    if (node.role == Role::kInput) {
      if (is_whole(node.type.shape)) return {};
      if (cut_.placement_of(node.name) != nullptr) return {Kind::kPlaced};
      return follows ? LayoutReason{Kind::kFollows, node.follows} : LayoutReason{Kind::kInput};
    }
    if (const int driver = ops_.at(node.op).driver; driver >= 0) {
      const ValueId over = node.inputs[driver];
      return of(over).replicated ? LayoutReason{} : LayoutReason{Kind::kContraction, over};
    }
    ValueId first_cut = kNoValue;
    for (ValueId i : node.inputs)
      if (!of(i).replicated && (first_cut == kNoValue || (is_placed(first_cut) && !is_placed(i)))) first_cut = i;
    if (first_cut == kNoValue) return {};
    const auto types = graph_.input_types(id);
    if (slices_of(ops_.at(node.op), {node.attrs, types, node.type}) > 1)
      return {Kind::kGathered, follows ? node.follows : first_cut};
    return follows ? LayoutReason{Kind::kFollows, node.follows} : LayoutReason{Kind::kCarried, first_cut};
  }

  Layout layout(ValueId id, const LayoutReason& why) const {
    const Node& node = graph_.node(id);
    const Shape& shape = node.type.shape;
    switch (why.kind) {
      case Kind::kReplicated:
        return {};
      case Kind::kInput:
        return of_input(shape, {});
      case Kind::kPlaced:
        return of_input(shape, *cut_.placement_of(node.name));
      case Kind::kFollows:
        return of(why.from);
      case Kind::kGathered:
        return gathered(shape, of(why.from));
      case Kind::kCarried:
      case Kind::kContraction:
        break;
    }
    const OpDef& def = ops_.at(node.op);
    const auto types = graph_.input_types(id);
    const OpContext op{node.attrs, types, node.type};
    return why.kind == Kind::kContraction ? of_contraction(def, op, of(why.from))
                                          : carried(def, op, of(why.from), graph_.node(why.from).type.shape);
  }

  Layout of_input(const Shape& shape, const InputPlacement& placement) const {
    Layout layout{.replicated = false, .grid = placement.grid};
    const Dims& grid = placement.grid.empty() ? mesh_.partition : placement.grid;
    if (shape.axes() != grid.axes())
      throw Error(ErrorKind::kConfig, "[partition] the partition " + to_string(grid) + " has " +
                                          std::to_string(grid.axes()) + " entries, but the input tensor " +
                                          to_string(shape) + " has " + std::to_string(shape.axes()) + " axes");
    if (element_count(grid) != mesh_.cores_per_replica())
      throw Error(ErrorKind::kConfig, "[partition] the partition " + to_string(grid) + " of an input is over " +
                                          std::to_string(element_count(grid)) + " cores, but a replica has " +
                                          std::to_string(mesh_.cores_per_replica()) + "; make them equal");
    const bool cut = placement.kind == InputPlacement::Kind::kCut ||
                     (placement.kind == InputPlacement::Kind::kWhereDivisible && divides(grid, shape));
    for (int a = 0; a + 1 < shape.axes(); ++a) {
      layout.axes.push_back(cut_anew(shape, a, grid));
      if (cut) continue;
      auto& parts = layout.axes.back();
      const std::size_t stride = static_cast<std::size_t>(grid[a]);  // the parts of one replica (of all, but along N)
      for (std::size_t first = 0; first < parts.size(); first += stride) {
        const Interval all{parts[first].first, parts[first + stride - 1].second};
        for (std::size_t p = 0; p < stride; ++p)
          parts[first + p] =
              placement.kind != InputPlacement::Kind::kFirstCore || p == 0 ? all : Interval{all.second, all.second};
      }
    }
    return layout;
  }

  /// Puts all parts of a replica on its first core, along every axis; the samples stay with their replica.
  Layout gathered(const Shape& shape, const Layout& from) const {
    Layout layout{.replicated = false, .grid = from.grid};
    const Dims& grid = from.grid.empty() ? mesh_.partition : from.grid;
    for (int a = 0; a + 1 < shape.axes(); ++a) {
      layout.axes.push_back(cut_anew(shape, a, grid));
      auto& parts = layout.axes.back();
      const auto stride = static_cast<std::size_t>(grid[a]);
      for (std::size_t first = 0; first < parts.size(); first += stride) {
        const std::int64_t end = parts[first + stride - 1].second;
        parts[first].second = end;
        for (std::size_t p = 1; p < stride; ++p) parts[first + p] = {end, end};
      }
    }
    return layout;
  }

  std::vector<Interval> cut_anew(const Shape& shape, int axis, const Dims& grid) const {
    const Dims& parts = grid.empty() ? mesh_.partition : grid;
    if (axis > 0) return greedy_ceil(shape[axis], parts[axis]);
    std::vector<Interval> cut;
    for (const auto& [begin, end] : greedy_ceil(shape[0], mesh_.replicas))
      for (const auto& [b, e] : greedy_ceil(end - begin, parts[0])) cut.emplace_back(begin + b, begin + e);
    return cut;
  }

  Layout carried(const OpDef& def, const OpContext& op, const Layout& from, const Shape& from_shape) const {
    Layout layout = from;
    for (int a = 0; a < static_cast<int>(from.axes.size()); ++a) {
      if (from_shape[a] == op.result.shape[a]) continue;
      if (a == 0 || def.boundary == nullptr) {  // a concat along N, a slice: boundaries of the input do not carry over
        layout.axes[a] = cut_anew(op.result.shape, a, from.grid);
        continue;
      }
      auto move = [&](std::int64_t boundary) {
        if (boundary == 0) return std::int64_t{0};
        if (boundary == from_shape[a]) return op.result.shape[a];
        return std::min(op.result.shape[a], def.boundary(op, a, boundary));
      };
      for (auto& [begin, end] : layout.axes[a]) {
        begin = move(begin);
        end = move(end);
      }
      if (a > 0) merge_thin(layout.axes[a], cut_.thinnest_slab);
    }
    return layout;
  }

  static Layout of_contraction(const OpDef& def, const OpContext& op, const Layout& driver) {
    if (driver.replicated) return {};
    const Shape& shape = op.inputs[def.driver].shape;
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

  const Graph& graph_;
  const OpTable& ops_;
  const Cut& cut_;
  const Mesh& mesh_;
  Layouts all_;
};

}  // namespace

Box Layout::box(const Mesh& mesh, std::int64_t core, const Shape& shape) const {
  if (replicated) return Box::whole(shape);
  Box box = Box::whole(shape);
  const Dims part = over(mesh).part_of(core);
  for (int a = 0; a < static_cast<int>(axes.size()); ++a) {
    const auto& [begin, end] = axes[a][part[a]];
    box.set(a, begin, end);
  }
  return box.empty() ? Box::none(shape.axes()) : box;
}

std::vector<Box> Layout::boxes(const Mesh& mesh, const Shape& shape) const {
  std::vector<Box> boxes;
  for (std::int64_t core = 0; core < (replicated ? 1 : mesh.cores()); ++core) boxes.push_back(box(mesh, core, shape));
  return boxes;
}

std::string to_string(const LayoutReason& reason, const Graph& graph) {
  switch (reason.kind) {
    case LayoutReason::Kind::kReplicated:
      return "whole";
    case LayoutReason::Kind::kInput:
      return "cut like the mesh";
    case LayoutReason::Kind::kPlaced:
      return "placed";
    case LayoutReason::Kind::kFollows:
      return "follows " + graph.node(reason.from).name;
    case LayoutReason::Kind::kCarried:
      return "carried from " + graph.node(reason.from).name;
    case LayoutReason::Kind::kContraction:
      return "a sum over " + graph.node(reason.from).name;
    case LayoutReason::Kind::kGathered:
      return "whole on one core: its weights outweigh it";
  }
  return "";
}

Layouts propagate(const Graph& graph, const OpTable& ops, const Cut& cut) { return Propagation(graph, ops, cut).run(); }

}  // namespace voxshard
