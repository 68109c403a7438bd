// Parity of one op: a graph of inputs -> op is run whole and cut, with the same inputs, and compared as whole tensors.
//
//   OpCase pool{.name = "max_pool", .inputs = {cut_input({2, 7, 6, 5, 3})}, .attrs = {.window = ...}};
//   expect_parity(pool);
//
// Inputs and result also get a reader with a window of 3, so that the op reads and writes buffers with margins.
#pragma once

#include <gtest/gtest.h>

#include <functional>
#include <string>
#include <vector>

#include "libcore/base/rng.h"
#include "libcore/graph/builder.h"
#include "libcore/ops/op_table.h"
#include "libcore/runtime/core_set.h"
#include "tests/base/print_boxes.h"

namespace voxshard::test {

constexpr std::uint64_t kOpSeed = 77;

enum class Values { kIntegers, kNormal, kPositive, kLabels, kArgmax, kStats };

struct OpInput {
  TensorType type;
  Role role = Role::kInput;  // kInput: cut; kParameter: replicated
  Values values = Values::kIntegers;
  int range = 3;  // integers -range..range; labels 0..range-1; argmax 0..range-1
};

inline OpInput cut_input(const Shape& shape, Values values = Values::kIntegers, DType dtype = DType::kF32,
                         int range = 3) {
  return {{dtype, shape}, Role::kInput, values, range};
}
inline OpInput parameter(const Shape& shape, Values values = Values::kIntegers, DType dtype = DType::kF32) {
  return {{dtype, shape}, Role::kParameter, values, 3};
}

struct OpCase {
  std::string op;
  std::string label;  // what is special about this case
  std::vector<OpInput> inputs;
  Attributes attrs;
  double tolerance = 0;      // 0: cut = uncut to the bit; else relative to the largest magnitude
  double set_tolerance = 0;  // fast = reference: 0 to the bit (integers), else relative
  bool margins = true;       // readers with windows on inputs and result
  Shape earlier = {};        // a tensor of these extents is laid out before (as the forward pass does for gradients)
  /// Builds the value in place of the single op, where its inputs must come from others (per-sample sums of a cut
  /// batch).
  std::function<ValueId(Builder&, const std::vector<ValueId>&)> build = nullptr;
};

inline void PrintTo(const OpCase& c, std::ostream* out) { *out << c.op << " (" << c.label << ")"; }

/// Returns a window of `kernel` cubed with explicit padding.
inline Window window(int axes, std::int64_t kernel, std::int64_t stride, std::int64_t dilation, std::int64_t lo,
                     std::int64_t hi) {
  return {Dims::filled(axes, kernel), Dims::filled(axes, stride), Dims::filled(axes, dilation), Dims::filled(axes, lo),
          Dims::filled(axes, hi)};
}

inline Window same(const Shape& x, std::int64_t kernel, std::int64_t stride = 1, std::int64_t dilation = 1) {
  Window w = window(x.axes() - 2, kernel, stride, dilation, 0, 0);
  set_same_padding(w, x);
  return w;
}

/// Returns {N, outputs of the window, channels}.
inline Shape outputs_of(const Window& w, Shape x, std::int64_t channels) {
  for (int a = 0; a < w.axes(); ++a) x[a + 1] = w.output_extent(a, x[a + 1]);
  x[x.axes() - 1] = channels;
  return x;
}

inline Tensor values_of(const OpInput& input, std::uint64_t stream) {
  Tensor tensor(input.type.dtype, input.type.shape);
  const RngKey key{kOpSeed, stream};
  for (std::int64_t i = 0; i < tensor.count(); ++i) {
    const auto index = static_cast<std::uint64_t>(i);
    double value = 0;
    switch (input.values) {
      case Values::kIntegers:
        value = static_cast<double>(rng_below(key, index, 2 * input.range + 1) - input.range);
        break;
      case Values::kNormal:
        value = rng_normal(key, index);
        break;
      case Values::kPositive:
        value = 0.5 + rng_uniform(key, index);
        break;
      case Values::kLabels:
        value = static_cast<double>(rng_below(key, index, input.range + 1) - 1);
        break;  // -1: ignored
      case Values::kArgmax:
        value = static_cast<double>(rng_below(key, index, input.range));
        break;
      case Values::kStats:
        value = i % 2 == 0 ? rng_normal(key, index) : 0.5 + rng_uniform(key, index);
        break;
    }
    store(tensor.view(), i, value);
  }
  return tensor;
}

struct OpGraph {
  Graph graph;
  ValueId result = kNoValue;
};

inline OpGraph graph_of(const OpCase& c) {
  OpGraph made;
  Builder b(made.graph, op_table());
  std::vector<ValueId> inputs;
  if (!c.earlier.empty()) b.input("earlier", {DType::kF32, c.earlier});
  for (std::size_t i = 0; i < c.inputs.size(); ++i) {
    const std::string name = "input" + std::to_string(i);
    inputs.push_back(c.inputs[i].role == Role::kInput ? b.input(name, c.inputs[i].type)
                                                      : b.parameter(name, c.inputs[i].type));
  }
  made.result = c.build ? c.build(b, inputs) : b.op(c.op, inputs, c.attrs, "result");
  made.graph.outputs["result"] = made.result;
  std::vector<ValueId> widened = inputs;
  widened.push_back(made.result);
  for (ValueId id : widened) {
    const TensorType& type = b.type(id);
    if (!c.margins || made.graph.node(id).role == Role::kParameter || !is_float(type.dtype) || type.shape.axes() < 4)
      continue;
    b.op("avg_pool", {id}, PoolAttrs{.window = same(type.shape, 3)}, "reader");
  }
  return made;
}

/// Returns the result of the op as one whole tensor.
inline Tensor run_op(const OpCase& c, const Mesh& mesh, KernelSet set, WorkerPool& pool) {
  OpGraph made = graph_of(c);
  Parameters parameters;
  std::vector<Tensor> values;
  for (std::size_t i = 0; i < c.inputs.size(); ++i) {
    values.push_back(values_of(c.inputs[i], i));
    if (c.inputs[i].role == Role::kParameter) parameters.emplace("input" + std::to_string(i), values.back());
  }
  const Executable executable = lower(made.graph, op_table(), {.mesh = mesh}, {.keep_all = true, .kernels = set});
  InProcessTransport transport;
  CoreSet cores(executable, op_table(), parameters, pool, transport);
  for (std::size_t i = 0; i < c.inputs.size(); ++i)
    if (c.inputs[i].role == Role::kInput)
      cores.feed(executable.program.graph.find("input" + std::to_string(i)),
                 [&](const TensorView& box) { copy(values[i].view(), box); });
  cores.run();
  return cores.gather(made.result);
}

/// Returns every way to write `cores` as a product over N and `spatial` axes: {1, 2, 1, 2, 1}, ...
inline std::vector<Dims> grids_of(std::int64_t cores, int spatial) {
  std::vector<Dims> grids;
  std::function<void(Dims, std::int64_t)> extend = [&](Dims grid, std::int64_t rest) {
    if (grid.axes() == spatial) {
      grid.push_back(rest);
      grid.push_back(1);
      grids.push_back(grid);
      return;
    }
    for (std::int64_t parts = 1; parts <= rest; ++parts) {
      if (rest % parts != 0) continue;
      Dims longer = grid;
      longer.push_back(parts);
      extend(longer, rest / parts);
    }
  };
  extend({}, cores);
  return grids;
}

inline void expect_equal(const Tensor& expected, const Tensor& got, double tolerance, const std::string& what) {
  const Difference d = compare(expected.view(), got.view());
  if (d.bit_equal) return;
  EXPECT_LE(d.max_abs, tolerance * d.max_magnitude)
      << what << " differs by " << d.max_abs << " of " << d.max_magnitude << " at " << to_string(d.at);
}

/// Expects cut = uncut over every grid of 1, 2, 3, 4, 6, 8 cores for both kernel sets, and fast = reference.
inline void expect_parity(const OpCase& c) {
  SCOPED_TRACE("seed " + std::to_string(kOpSeed));
  WorkerPool pool(1);  // tests/runtime varies the workers
  int spatial = 0;
  for (const OpInput& input : c.inputs)
    if (input.role == Role::kInput) spatial = std::max(spatial, input.type.shape.axes() - 2);
  if (spatial == 0) spatial = 3;
  const Mesh whole{.partition = Dims::filled(spatial + 2, 1)};
  const Tensor reference = run_op(c, whole, KernelSet::kReference, pool);
  double magnitude = 0;
  for (std::int64_t i = 0; i < reference.count(); ++i)
    magnitude = std::max(magnitude, std::abs(load(reference.view(), i)));
  EXPECT_GT(magnitude, 0) << "a result of zeros proves nothing";
  for (KernelSet set : {KernelSet::kReference, KernelSet::kFast}) {
    const char* name = set == KernelSet::kFast ? "fast" : "reference";
    const Tensor uncut = set == KernelSet::kFast ? run_op(c, whole, set, pool) : reference;
    expect_equal(reference, uncut, c.set_tolerance, std::string(name) + ", uncut, against the reference");
    for (std::int64_t cores : {1, 2, 3, 4, 6, 8}) {
      for (const Dims& grid : grids_of(cores, spatial)) {
        if (testing::Test::HasFailure()) return;
        expect_equal(uncut, run_op(c, {.partition = grid}, set, pool), c.tolerance,
                     std::string(name) + " over " + to_string(grid));
      }
    }
  }
}

}  // namespace voxshard::test
