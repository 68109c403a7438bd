// The uncut network's kernels against the slow ones (layer_check.h).
#include <algorithm>
#include <cmath>

#include "libcore/base/rng.h"
#include "libcore/tensor/rows.h"
#include "libcore/train/layer_check.h"
#include "libcore/train/oracle.h"
#include "libcore/train/tolerance.h"

namespace voxshard {
namespace {

constexpr double kPointFactor = 64;  // roundings of an f32 formula, on the scale of its largest result
constexpr double kKink =
    0x1p-18;  // where a formula jumps (the gradient of a ReLU): inputs this near, on the scale of the largest
constexpr double kRoundedTwice = 1.01;  // the error of a sum may be rounded up with the result

double largest_of(const Tensor& values) {
  double largest = 0;
  for (std::int64_t i = 0; i < values.count(); ++i) largest = std::max(largest, std::abs(load(values.view(), i)));
  return largest;
}

/// Each value moved up or down by `by`; which of them, is a hash of its number, so that in a sum the moves do not add up.
Tensor shifted(const Tensor& values, double by) {
  Tensor result(DType::kF64, values.shape());
  for (std::int64_t i = 0; i < values.count(); ++i) {
    const bool up = (rng_mix(static_cast<std::uint64_t>(i)) & 1) != 0;
    store(result.view(), i, load(values.view(), i) + (up ? by : -by));
  }
  return result;
}

class KernelCheck {
 public:
  KernelCheck(const CoreSet& uncut, const OpTable& ops, WorkerPool& pool)
      : uncut_(uncut),
        graph_(uncut.executable().program.graph),
        ops_(ops),
        oracle_(uncut.executable().program, ops, pool) {}

  LayerReport run(double most_flops) {
    const auto& instructions = uncut_.executable().program.instructions;
    for (std::size_t i = 0; i < instructions.size(); ++i)
      if (instructions[i].kind == InstructionKind::kCompute) check(instructions[i].value, oracle_.boxes(i, most_flops));
    return report_;
  }

 private:
  struct Layer {
    ValueId id;
    std::vector<Box> boxes;    // computed again
    std::vector<Box> results;  // what they give of the result
    std::vector<Tensor> inputs;
    Tensor found, exact;
    double rounding = 0;  // relative, of the result
  };

  void check(ValueId id, std::vector<Box> boxes) {
    const TensorType& type = graph_.node(id).type;
    if (element_count(type.shape) == 0) return;
    if (boxes.empty()) {
      ++report_.left_out;
      return;
    }
    Layer layer{.id = id,
                .boxes = std::move(boxes),
                .found = uncut_.gather(id),
                .rounding = is_float(type.dtype) ? epsilon_of(type.dtype) : 0};
    layer.results = ops_.at(graph_.node(id).op).driver >= 0 ? std::vector<Box>{Box::whole(type.shape)} : layer.boxes;
    for (ValueId input : graph_.node(id).inputs) layer.inputs.push_back(uncut_.gather(input));
    layer.exact = oracle_.result(id, layer.inputs, layer.boxes);
    count(layer, compare(layer));
  }

  void count(const Layer& layer, const Worst& worst) {
    ++report_.compared;
    std::int64_t covered = 0;
    for (const Box& box : layer.results) covered += box.count();
    if (covered < layer.found.count()) ++report_.sampled;
    if (worst.too_far()) return report_.differ({graph_.node(layer.id).name, "kernel", worst.difference, worst.allowed});
    worst.ratio == 0 ? ++report_.bit_equal : ++report_.within_tolerance;
    report_.widest_ratio = std::max(report_.widest_ratio, worst.ratio);
  }

  Worst compare(const Layer& layer) const {
    if (layer.rounding == 0) return worst_of(layer, [](std::int64_t) { return 0.0; });
    if (const double products = oracle_.products(layer.id); products > 0) {
      const Tensor sizes = oracle_.magnitudes(layer.id, layer.inputs, layer.boxes);
      return worst_of(layer, [&](std::int64_t i) { return product_allowance(products, load(sizes.view(), i)); });
    }
    const double everywhere = sum_allowance(uncut_, ops_, layer.id, DType::kF32) +
                              kPointFactor * epsilon_of(DType::kF32) * largest_of(layer.exact);
    const Worst worst = worst_of(layer, [&](std::int64_t) { return everywhere; });
    if (!worst.too_far() || layer.inputs.empty() || !is_float(layer.inputs[0].dtype())) return worst;
    // Right for inputs that can hardly be told from these.
    std::vector<Tensor> inputs = layer.inputs;
    const double shift = kKink * largest_of(layer.inputs[0]);
    inputs[0] = shifted(layer.inputs[0], shift);
    const Tensor above = oracle_.result(layer.id, inputs, layer.boxes);
    inputs[0] = shifted(layer.inputs[0], -shift);
    const Tensor below = oracle_.result(layer.id, inputs, layer.boxes);
    return worst_of(
        layer, [&](std::int64_t i) { return everywhere + std::abs(load(above.view(), i) - load(below.view(), i)); });
  }

  /// `allowance` of an element by its number, beside the rounding of the result.
  template <class Allowance>
  Worst worst_of(const Layer& layer, Allowance allowance) const {
    Worst worst;
    const TensorView found = layer.found.view(), exact = layer.exact.view();
    for (const Box& box : layer.results)
      for_each_row(box, [&](const Dims& at) {
        const std::int64_t first = offset_at(found, at);
        for (std::int64_t i = first; i < first + row_count(box); ++i) {
          const double value = load(exact, i);
          worst.add(load(found, i), value, kRoundedTwice * (layer.rounding * std::abs(value) + allowance(i)));
        }
      });
    return worst;
  }

  const CoreSet& uncut_;
  const Graph& graph_;
  const OpTable& ops_;
  Oracle oracle_;
  LayerReport report_;
};

}  // namespace

LayerReport check_kernels(const CoreSet& uncut, const OpTable& ops, WorkerPool& pool, double most_flops) {
  return KernelCheck(uncut, ops, pool).run(most_flops);
}

}  // namespace voxshard
