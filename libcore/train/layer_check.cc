#include "libcore/train/layer_check.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "libcore/train/oracle.h"
#include "libcore/train/tolerance.h"

namespace voxshard {
namespace {

constexpr std::int64_t kTasks = 16;

class LayerCheck {
 public:
  LayerCheck(const CoreSet& uncut, CoreSet& cut, const OpTable& ops, WorkerPool& pool)
      : uncut_(uncut), cut_(cut), ops_(ops), oracle_(uncut.executable().program, ops, pool) {}

  LayerReport run() {
    const Program& program = cut_.executable().program;
    for (std::size_t i = 0; i < program.instructions.size(); ++i) {
      cut_.run_instruction(i);
      const Instruction& instruction = program.instructions[i];
      const bool last_of_margin =
          i + 1 == program.instructions.size() || program.instructions[i + 1].value != instruction.value;
      if (const auto& faults = cut_.watch()->faults(); !faults.empty())
        report_.differ(node(faults.front().value).name, "memory: " + faults.front().what,
                       std::numeric_limits<double>::infinity(), 0);
      if ((instruction.kind == InstructionKind::kCompute && !instruction.partial) ||
          instruction.kind == InstructionKind::kJoin) {
        compare_result(instruction.value);
        cut_.scatter(instruction.value, uncut_.gather(instruction.value).view());
      } else if (instruction.kind != InstructionKind::kCompute && last_of_margin) {
        compare_margins(instruction.value);
      }
    }
    return report_;
  }

 private:
  const Node& node(ValueId id) const { return cut_.executable().program.graph.node(id); }

  void compare_result(ValueId id) {
    const Tensor a = uncut_.gather(id), b = cut_.gather(id);
    const Difference d = compare(a.view(), b.view());
    ++report_.compared;
    if (d.bit_equal) {
      ++report_.bit_equal;
      return;
    }
    const Worst worst = differing(id, a, b, d.max_abs);
    if (worst.too_far()) return report_.differ(node(id).name, "result", worst.difference, worst.allowed);
    ++report_.within_tolerance;
    report_.widest_ratio = std::max(report_.widest_ratio, worst.ratio);
  }

  Worst differing(ValueId id, const Tensor& a, const Tensor& b, double difference) const {
    Worst worst;
    const double products = oracle_.products(id);
    if (products == 0 || !std::isfinite(difference)) {
      worst.add(difference, 0, sum_allowance(uncut_, ops_, id, node(id).type.dtype));
      return worst;
    }
    // A library may add the products of one element in an order that depends on the block.
    std::vector<Tensor> inputs;
    for (ValueId input : node(id).inputs) inputs.push_back(uncut_.gather(input));
    const Tensor sizes = oracle_.magnitudes(id, inputs, split_blocks(Box::whole(node(id).type.shape), kTasks));
    const double neighbour = 2 * epsilon_of(node(id).type.dtype);
    for (std::int64_t i = 0; i < a.count(); ++i) {
      const double value = load(a.view(), i);
      worst.add(value, load(b.view(), i),
                2 * product_allowance(products, load(sizes.view(), i)) + neighbour * std::abs(value));
    }
    return worst;
  }

  /// All that a core holds must be the uncut value, and zero outside the tensor.
  void compare_margins(ValueId id) {
    const Tensor whole = uncut_.gather(id);
    for (std::size_t core = 0; core < cut_.executable().program.plan(id).held.size(); ++core) {
      const TensorView held = cut_.held(id, core);
      if (held.box.empty()) continue;
      Tensor expected(held.dtype, held.box.extent);
      TensorView view = expected.view();
      view.box = held.box;
      const Box inside = intersect(held.box, whole.view().box);
      copy(whole.view(), view.sub(inside));
      const Difference d = compare(view, held);
      if (!d.bit_equal) return report_.differ(node(id).name, "margin", d.max_abs, 0);
    }
  }

  const CoreSet& uncut_;
  CoreSet& cut_;
  const OpTable& ops_;
  Oracle oracle_;
  LayerReport report_;
};

}  // namespace

LayerReport check_layers(const CoreSet& uncut, CoreSet& cut, const OpTable& ops, WorkerPool& pool) {
  return LayerCheck(uncut, cut, ops, pool).run();
}

}  // namespace voxshard
