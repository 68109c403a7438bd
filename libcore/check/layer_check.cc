#include "libcore/check/layer_check.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <optional>

#include "libcore/check/oracle.h"
#include "libcore/check/tolerance.h"
#include "libcore/tensor/rows.h"

namespace voxshard {
namespace {

/// True when two views of equal boxes and types hold the same bytes.
bool same_bytes(const TensorView& a, const TensorView& b) {
  const auto size = static_cast<std::size_t>(row_count(a.box) * dtype_bytes(a.dtype));
  bool same = true;
  for_each_row(a.box, [&](const Dims& at) {
    same = same && std::memcmp(a.data + offset_at(a, at) * dtype_bytes(a.dtype),
                               b.data + offset_at(b, at) * dtype_bytes(b.dtype), size) == 0;
  });
  return same;
}

class LayerCheck {
 public:
  LayerCheck(const CoreSet& uncut, CoreSet& cut, const OpTable& ops, WorkerPool& pool)
      : uncut_(uncut), cut_(cut), ops_(ops), pool_(pool), sums_(pool) {}

  /// Returns the differences on this rank's cores. For each instruction memory faults come first, then the result or
  /// margin.
  std::vector<Unequal> run() {
    const Program& program = cut_.executable().program;
    for (std::size_t i = 0; i < program.instructions.size(); ++i) {
      place_ = 2 * static_cast<std::int64_t>(i);
      cut_.run_instruction(i);
      const Instruction& instruction = program.instructions[i];
      const bool last_of_margin =
          i + 1 == program.instructions.size() || program.instructions[i + 1].value != instruction.value;
      compare_memory();
      ++place_;
      if ((instruction.kind == InstructionKind::kCompute && !instruction.partial) ||
          instruction.kind == InstructionKind::kJoin) {
        compare_result(instruction.value);
        cut_.scatter(instruction.value, whole(instruction.value));
      } else if (instruction.kind != InstructionKind::kCompute && last_of_margin) {
        compare_margins(instruction.value);
      }
    }
    return std::move(unequal_);
  }
  /// The number of compared results, each counted once as a whole: the same on every rank.
  int compared() const { return compared_; }

 private:
  const Node& node(ValueId id) const { return cut_.executable().program.graph.node(id); }
  /// A value of the uncut run.
  TensorView whole(ValueId id) const { return uncut_.owned(id, 0); }

  void add(ValueId id, const std::string& what, const Worst& worst, std::int64_t core = -1) {
    unequal_.push_back(
        {.place = place_, .found = {node(id).name, what, worst.difference, worst.allowed, core}, .ratio = worst.ratio});
  }

  void compare_memory() {
    const auto& faults = cut_.watch()->faults();
    if (faults.empty() || faulty_) return;
    faulty_ = true;  // only the first fault is reported: it names the origin
    Worst infinite;
    infinite.add(std::numeric_limits<double>::infinity(), 0, 0);
    add(faults.front().value, "memory: " + faults.front().what, infinite);
  }

  void compare_result(ValueId id) {
    ++compared_;
    std::optional<Tensor> sizes;  // magnitudes of the sums of products, for the whole value
    for (std::size_t core : cut_.cores_of(id)) {
      const TensorView part = cut_.owned(id, core);
      if (part.box.empty()) continue;
      if (same_bytes(whole(id).sub(part.box), part)) continue;
      const Difference d = compare(whole(id).sub(part.box), part);
      if (d.bit_equal) continue;  // zeros of either sign
      const bool replicated = cut_.executable().program.replicated(id);
      add(id, "result", differing(id, part, d.max_abs, sizes), replicated ? -1 : static_cast<std::int64_t>(core));
    }
  }

  Worst differing(ValueId id, const TensorView& part, double difference, std::optional<Tensor>& sizes) {
    Worst worst;
    std::vector<TensorView> inputs;
    for (ValueId input : node(id).inputs) inputs.push_back(whole(input));
    const Layer layer = layer_of(uncut_.executable().program, ops_, id, std::move(inputs));
    const double products = products_of(layer);
    if (products == 0 || !std::isfinite(difference)) {
      const bool sum = layer.def->driver >= 0;
      worst.add(difference, 0, sum ? sum_allowance(sums_.widest(layer, node(id).inputs), node(id).type.dtype) : 0);
      return worst;
    }
    // A library may add the products of one element in an order that depends on the block.
    if (!sizes) sizes = sizes_of(layer);
    const Tensor a = dense(whole(id), part.box), b = dense(part, part.box), size = dense(sizes->view(), part.box);
    const double neighbour = 2 * epsilon_of(node(id).type.dtype);
    for (std::int64_t i = 0; i < a.count(); ++i) {
      const double value = load(a.view(), i);
      worst.add(value, load(b.view(), i),
                2 * product_allowance(products, load(size.view(), i)) + neighbour * std::abs(value));
    }
    return worst;
  }

  /// Returns the sum of |products| of each element, for the whole value.
  Tensor sizes_of(const Layer& layer) {
    const OwnedLayer sized = magnitudes_of(layer, pool_);
    Tensor sizes(DType::kF64, layer.result.shape);
    for_each_part(Box::whole(layer.result.shape), pool_, [&](const Box& box) {
      const Tensor part = reference_part(sized.layer, box);
      copy(dense_view(part.data(), part.dtype(), box), sizes.view().sub(box));
    });
    return sizes;
  }

  /// Returns a dense copy of the part at `box`.
  static Tensor dense(const TensorView& from, const Box& box) {
    Tensor part(from.dtype, box.extent);
    TensorView view = part.view();
    view.box = box;
    copy(from, view);
    return part;
  }

  /// Compares everything that a core holds: it must equal the uncut value, and be zero outside the tensor.
  void compare_margins(ValueId id) {
    for (std::size_t core : cut_.cores_of(id)) {
      const TensorView held = cut_.held(id, core);
      if (held.box.empty()) continue;
      Tensor expected(held.dtype, held.box.extent);
      TensorView view = expected.view();
      view.box = held.box;
      const Box inside = intersect(held.box, whole(id).box);
      copy(whole(id), view.sub(inside));
      if (same_bytes(view, held)) continue;
      const Difference d = compare(view, held);
      if (d.bit_equal) continue;
      Worst worst;
      worst.add(d.max_abs, 0, 0);
      return add(id, "margin", worst, static_cast<std::int64_t>(core));
    }
  }

  const CoreSet& uncut_;
  CoreSet& cut_;
  const OpTable& ops_;
  WorkerPool& pool_;
  LongSums sums_;
  std::vector<Unequal> unequal_;
  std::int64_t place_ = 0;
  int compared_ = 0;
  bool faulty_ = false;
};

}  // namespace

LayerReport check_layers(const CoreSet& uncut, CoreSet& cut, const OpTable& ops, WorkerPool& pool,
                         Transport& transport) {
  LayerCheck check(uncut, cut, ops, pool);
  const std::vector<Unequal> own = check.run();
  LayerReport report{.compared = check.compared(), .bit_equal = check.compared()};
  const Graph& graph = uncut.executable().program.graph;
  for (const Unequal& u : join_unequal(transport, own)) {
    report.bit_equal -= u.found.what == "result";
    if (u.too_far()) {
      report.differ(u.found);
      continue;
    }
    ++report.within_tolerance;
    report.reordered += u.found.what == "result" && ops.at(graph.node(graph.find(u.found.layer)).op).driver < 0;
    report.widest_ratio = std::max(report.widest_ratio, u.ratio);
  }
  return report;
}

}  // namespace voxshard
