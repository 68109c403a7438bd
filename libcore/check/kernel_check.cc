#include "libcore/check/kernel_check.h"

#include <algorithm>
#include <cmath>

#include "libcore/base/rng.h"
#include "libcore/check/projection.h"
#include "libcore/check/tolerance.h"
#include "libcore/tensor/rows.h"

namespace voxshard {
namespace {

constexpr double kPointFactor = 64;  // allowed roundings of an f32 formula, relative to its largest result
// distance of inputs from a jump of a formula (the gradient of a ReLU), relative to the largest input
constexpr double kKink = 0x1p-18;
constexpr double kFormula = 1;       // roundings to f32 before the rounding to the result's type
constexpr double kFarWithin = 0.25;  // share of a lower bound of the allowance
constexpr std::int64_t kSpots = 8;   // boxes of single voxels; each is a row of kSpotRow voxels
constexpr std::int64_t kSpotRow = 8;

double largest_of(const TensorView& values, WorkerPool& pool) {
  const std::vector<Box> parts = parts_of(values.box);
  std::vector<double> largest(parts.size());
  pool.run(std::ssize(parts), [&](std::int64_t i, int) {
    std::vector<double> row(static_cast<std::size_t>(row_count(values.box)));
    double& own = largest[i];
    for_each_row(parts[i], [&](const Dims& at) {
      load_row(values, offset_at(values, at), std::ssize(row), row.data());
      for (double v : row)
        if (std::isfinite(v)) own = std::max(own, std::abs(v));
    });
  });
  return largest.empty() ? 0 : *std::max_element(largest.begin(), largest.end());
}

/// Returns the values, each moved up or down by `by`. A hash of its index gives the direction, so that the moves
/// largely cancel in a sum.
Tensor shifted(const TensorView& values, double by) {
  Tensor result(DType::kF64, values.extent());
  copy(values, result.view());
  for (std::int64_t i = 0; i < result.count(); ++i)
    result.as<double>()[i] += (rng_mix(static_cast<std::uint64_t>(i)) & 1) != 0 ? by : -by;
  return result;
}

/// Returns rows of voxels over all channels: the first, the last, and others chosen by a hash.
std::vector<Box> spots_of(const Box& whole, RngKey key) {
  std::vector<Box> spots;
  for (std::int64_t spot = 0; spot < kSpots; ++spot) {
    Box box = whole;
    for (int a = 0; a + 1 < whole.axes(); ++a) {
      const std::int64_t extent = a + 2 == whole.axes() ? std::min(kSpotRow, whole.extent[a]) : 1;
      const std::int64_t last = whole.extent[a] - extent;
      const auto index = static_cast<std::uint64_t>(spot * kMaxAxes + a);
      const std::int64_t at = spot == 0 ? 0 : spot == 1 ? last : rng_below(key, index, last + 1);
      box.set(a, at, at + extent);
    }
    spots.push_back(box);
  }
  return spots;
}

/// One layer of the uncut network and its result to check.
class CheckedLayer {
 public:
  CheckedLayer(Layer layer, TensorView found, std::span<const ValueId> ids, LongSums& sums, WorkerPool& pool)
      : layer_(std::move(layer)), found_(found), ids_(ids), sums_(sums), pool_(pool) {}

  Worst whole(const std::vector<Box>& blocks) {
    if (layer_.def->driver >= 0) return compare_sum(blocks);
    return compare_boxes(parts_of(found_.box));
  }

  Worst projection(const ChannelAxis& axis, const std::vector<double>& r, const std::vector<Box>& blocks) {
    const ProjectedLayer p = projected(layer_, axis, r, pool_);
    return layer_.def->driver >= 0 ? compare_projected_sum(p, axis, r, blocks) : compare_projection(p, r);
  }

  Worst compare_boxes(const std::vector<Box>& boxes) {
    if (const double products = products_of(layer_); products > 0) return compare_products(boxes, products);
    const double point = is_float(layer_.result.dtype) ? point_allowance() : 0;
    const Worst worst = over(boxes, [&](const Box& box) {
      return compare(box, reference_part(layer_, box), [&](std::int64_t) { return point; });
    });
    return worst.too_far() && has_kinks() ? compare_beside_kinks(boxes, point) : worst;
  }

 private:
  double point_allowance() const { return kPointFactor * epsilon_of(DType::kF32) * largest_of(found_, pool_); }

  /// Returns the worst difference over boxes, which are compared as parallel tasks.
  Worst over(const std::vector<Box>& boxes, const std::function<Worst(const Box&)>& compared) {
    std::vector<Worst> each(boxes.size());
    run(boxes, [&](std::size_t i) { each[i] = compared(boxes[i]); });
    return worst_of(each);
  }

  /// Compares the result in `box` with `exact`; `allowance` gives the tolerance of an element by its index in the box.
  template <class Allowance>
  Worst compare(const Box& box, const Tensor& exact, Allowance allowance) const {
    Worst worst;
    const TensorView from = exact.view();
    const double again = kFormula * epsilon_of(DType::kF32),
                 nearest = is_float(found_.dtype) ? epsilon_of(found_.dtype) / 2 : 0;
    const auto count = static_cast<std::size_t>(row_count(box));
    std::vector<double> found(count), value(count);
    std::int64_t first = 0;
    for_each_row(box, [&](const Dims& at) {
      load_row(found_, offset_at(found_, at), std::ssize(found), found.data());
      load_row(from, first, std::ssize(value), value.data());
      for (std::size_t i = 0; i < count; ++i) {
        if (std::abs(found[i] - value[i]) <= nearest * std::abs(value[i])) continue;  // below any rounding
        if (is_float(found_.dtype))
          worst.add_rounded(found[i], value[i], found_.dtype,
                            allowance(first + static_cast<std::int64_t>(i)) + again * std::abs(value[i]));
        else
          worst.add(found[i], value[i], 0);
      }
      first += std::ssize(value);
    });
    return worst;
  }

  /// Compares sums of products. |sum| is at most the sum of |products|, so a box far within the allowance from |sum|
  /// needs no second run for the magnitudes.
  Worst compare_products(const std::vector<Box>& boxes, double products) {
    std::vector<Tensor> exact(boxes.size());
    std::vector<Worst> each(boxes.size());
    run(boxes, [&](std::size_t i) {
      exact[i] = reference_part(layer_, boxes[i]);
      each[i] = compare(boxes[i], exact[i], [&](std::int64_t k) {
        return product_allowance(products, std::abs(exact[i].as<double>()[k]));
      });
      if (each[i].ratio <= kFarWithin) exact[i] = {};
    });
    const bool all_within = std::all_of(each.begin(), each.end(), [](const Worst& w) { return w.ratio <= kFarWithin; });
    if (!all_within) {
      const OwnedLayer sizes = magnitudes_of(layer_, pool_);
      run(boxes, [&](std::size_t i) {
        if (each[i].ratio <= kFarWithin) return;
        const Tensor size = reference_part(sizes.layer, boxes[i]);
        each[i] = compare(boxes[i], exact[i],
                          [&](std::int64_t k) { return product_allowance(products, size.as<double>()[k]); });
      });
    }
    return worst_of(each);
  }

  void run(const std::vector<Box>& boxes, const std::function<void(std::size_t)>& task) {
    pool_.run(std::ssize(boxes), [&](std::int64_t i, int) { task(static_cast<std::size_t>(i)); });
  }
  static Worst worst_of(const std::vector<Worst>& each) {
    Worst worst;
    for (const Worst& w : each) worst.add(w);
    return worst;
  }

  bool has_kinks() const { return !layer_.inputs.empty() && is_float(layer_.types[0].dtype); }

  /// Compares with a tolerance that also accepts the exact results for inputs moved by a tiny amount, as near a jump.
  Worst compare_beside_kinks(const std::vector<Box>& boxes, double point) {
    const double shift = kKink * largest_of(layer_.inputs[0], pool_);
    const Tensor up = shifted(layer_.inputs[0], shift), down = shifted(layer_.inputs[0], -shift);
    Layer above = layer_, below = layer_;
    above.inputs[0] = up.view(), below.inputs[0] = down.view();
    return over(boxes, [&](const Box& box) {
      const Tensor a = reference_part(above, box), b = reference_part(below, box);
      return compare(box, reference_part(layer_, box), [&](std::int64_t i) {
        return point + (is_float(a.dtype()) ? std::abs(a.as<double>()[i] - b.as<double>()[i]) : 0);
      });
    });
  }

  Worst compare_sum(const std::vector<Box>& blocks) {
    const std::vector<LongSum> sums = sums_.of(layer_, ids_, blocks);
    const Tensor exact = reference_sum(layer_, blocks, pool_);
    const double point = point_allowance();
    const auto allowed = [&](std::int64_t i) {
      return point + sum_allowance(sums[i], DType::kF32, exact.as<double>()[i]);
    };
    const Worst worst = compare(found_.box, exact, allowed);
    if (!worst.too_far() || !has_kinks()) return worst;
    const double shift = kKink * largest_of(layer_.inputs[0], pool_);
    const Tensor up = shifted(layer_.inputs[0], shift), down = shifted(layer_.inputs[0], -shift);
    Layer above = layer_, below = layer_;
    above.inputs[0] = up.view(), below.inputs[0] = down.view();
    const Tensor a = reference_sum(above, blocks, pool_), b = reference_sum(below, blocks, pool_);
    return compare(found_.box, exact,
                   [&](std::int64_t i) { return allowed(i) + std::abs(a.as<double>()[i] - b.as<double>()[i]); });
  }

  /// sum_c r[c] * found[v, c] against the slow kernel's single channel, at every voxel.
  Worst compare_projection(const ProjectedLayer& p, const std::vector<double>& r) {
    const double products = products_of(layer_);
    return over(parts_of(Box::whole(p.exact.layer.result.shape)), [&](const Box& box) {
      const Tensor exact = reference_part(p.exact.layer, box), size = reference_part(p.sizes.layer, box);
      std::vector<double> row(r.size());
      Worst worst;
      std::int64_t number = 0;
      for_each_row(box, [&](const Dims& at) {
        load_row(found_, offset_at(found_, at), std::ssize(row), row.data());
        double sum = 0, squares = 0;
        for (std::size_t c = 0; c < row.size(); ++c) {
          sum += r[c] * row[c];
          const double rounding = r[c] * half_spacing(row[c], found_.dtype);
          squares += rounding * rounding;
        }
        const double of_products = product_allowance(products, size.as<double>()[number]);
        worst.add(sum, exact.as<double>()[number], kSpread * (std::sqrt(squares) + of_products));
        ++number;
      });
      return worst;
    });
  }

  /// The same for a contraction: compares each remaining tap and channel.
  Worst compare_projected_sum(const ProjectedLayer& p, const ChannelAxis& axis, const std::vector<double>& r,
                              const std::vector<Box>& blocks) {
    Layer sized = p.exact.layer;  // its inputs as magnitudes: for summed inputs the norm over the channels
    sized.inputs = p.sizes.layer.inputs;
    const std::vector<LongSum> sums = sums_.of(sized, {}, blocks);
    const Tensor exact = reference_sum(p.exact.layer, parts_of(sized.iteration()), pool_);
    const Tensor found = summed_channels(found_, axis.axis, 0, r, pool_);
    const Tensor size = channel_norms(found_, axis.axis, 0, r, pool_);
    Worst worst;
    for (std::int64_t i = 0; i < exact.count(); ++i)
      worst.add(found.as<double>()[i], exact.as<double>()[i],
                kSpread * (sum_allowance(sums[i], DType::kF32, size.as<double>()[i]) +
                           half_spacing(size.as<double>()[i], found_.dtype)));
    return worst;
  }

  Layer layer_;
  TensorView found_;
  std::span<const ValueId> ids_;
  LongSums& sums_;
  WorkerPool& pool_;
};

class KernelCheck {
 public:
  KernelCheck(const CoreSet& uncut, const OpTable& ops, WorkerPool& pool, const KernelCheckOptions& options)
      : uncut_(uncut), program_(uncut.executable().program), ops_(ops), pool_(pool), options_(options), sums_(pool) {}

  LayerReport run() {
    std::vector<const Instruction*> computed;
    for (const Instruction& instruction : program_.instructions)
      if (instruction.kind == InstructionKind::kCompute &&
          (options_.only == kNoValue || options_.only == instruction.value))
        computed.push_back(&instruction);
    for (std::size_t i = 0; i < computed.size(); ++i) {
      const Node& node = program_.graph.node(computed[i]->value);
      if (options_.progress) options_.progress(static_cast<std::int64_t>(i), std::ssize(computed), node.name);
      if (element_count(node.type.shape) > 0) check(computed[i]->value, computed[i]->blocks.front());
    }
    return report_;
  }

 private:
  void check(ValueId id, const std::vector<Box>& blocks) {
    const Node& node = program_.graph.node(id);
    std::vector<TensorView> inputs;
    for (ValueId input : node.inputs) inputs.push_back(uncut_.owned(input, 0));
    Layer layer = layer_of(program_, ops_, id, std::move(inputs));
    const double flops = flops_of(layer);
    if (flops > options_.left_out_flops) {
      report_.left_out.push_back(node.name + " (" + node.op + ")");
      return;
    }
    const auto axis = channel_axis(layer.op());
    CheckedLayer checked(std::move(layer), uncut_.owned(id, 0), node.inputs, sums_, pool_);
    ++report_.compared;
    if (flops <= options_.whole_flops || !axis) return count(id, checked.whole(blocks));
    ++report_.sampled;
    const auto r = random_signs(node.name, options_.seed, node.type.shape[axis->axis]);
    Worst worst = checked.projection(*axis, r, blocks);
    if (ops_.at(node.op).driver < 0)
      worst.add(checked.compare_boxes(spots_of(Box::whole(node.type.shape), {options_.seed, rng_stream(node.name)})));
    count(id, worst);
  }

  void count(ValueId id, const Worst& worst) {
    if (worst.too_far())
      return report_.differ({program_.graph.node(id).name, "kernel", worst.difference, worst.allowed});
    worst.ratio == 0 ? ++report_.bit_equal : ++report_.within_tolerance;
    report_.widest_ratio = std::max(report_.widest_ratio, worst.ratio);
  }

  const CoreSet& uncut_;
  const Program& program_;
  const OpTable& ops_;
  WorkerPool& pool_;
  const KernelCheckOptions& options_;
  LongSums sums_;
  LayerReport report_;
};

}  // namespace

LayerReport check_kernels(const CoreSet& uncut, const OpTable& ops, WorkerPool& pool,
                          const KernelCheckOptions& options) {
  return KernelCheck(uncut, ops, pool, options).run();
}

}  // namespace voxshard
