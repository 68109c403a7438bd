// The rules of one op, as data: shape, gradient, boxes, work, kernel. The graph, the partitioner, the memory plan and
// the runtime know ops only through this struct; libcore/ops has one file per family and a table of all.
//
// An op either computes its result element by element (`driver` < 0: a core computes the boxes of the result that it
// owns), or it contracts axes of input number `driver` (a core sums over the boxes of that input that it owns; the
// partial results are then reduced at once). Both kinds state which boxes of their inputs they need for a box they
// iterate over.
#pragma once

#include <map>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "libcore/graph/graph.h"
#include "libcore/kernels/kernel.h"

namespace voxshard {

class Builder;

/// One use of an op: its attributes and types, all global.
struct OpContext {
  const Attributes& attrs;
  std::span<const TensorType> inputs;
  TensorType result;
};

/// `count` matrix products (rows x inner) (inner x columns), as a matrix unit sees a convolution: one per kernel tap.
struct Products {
  double count = 0, rows = 0, inner = 0, columns = 0;
};

struct Work {
  double flops = 0;
  double bytes = 0;   // read + written
  Products products;  // the part of the flops that a matrix unit can do; count 0: all are vector work
};

/// An op with global types that can be run; `iteration` (empty: everything) is a box of the result, or of a
/// contraction's driver.
struct OpUse {
  Attributes attrs;
  std::vector<TensorType> inputs;
  Box iteration = {};
};

/// A convolution or one of its gradients over `rows` rows of `row` voxels with all margins in memory, `in` to `out`
/// channels.
struct ProductSample {
  DType stored = DType::kF32;
  Window window;
  std::int64_t in = 1, out = 1, row = 1, rows = 1;
  ConvKernel kernel = ConvKernel::kAny;
};

/// The measurement of an op on a host: the use that is timed at each point of a grid of stored types, channels and
/// sizes. At most one of the two functions is set; with neither, measured rates cannot price the op.
struct OpSample {
  /// For ops bound by memory: the op on a tensor x of shape (1, D, H, W, C); tensors not kept in `stored` are f32.
  OpUse (*memory)(DType stored, const Shape& x) = nullptr;
  std::vector<double> channels = {};  // C; empty: the usual ones
  bool few = false;                   // small op: x gives only the count of numbers, some kilobytes
  bool f32_only = false;
  /// For ops made of matrix products.
  OpUse (*products)(const ProductSample& at) = nullptr;
};

/// Argument of gradient rules: node y = op(inputs), d_y given; the rule sets d_inputs[i] where wanted[i].
struct GradientContext {
  Builder& builder;
  const Node& node;
  ValueId result;
  ValueId d_result;
  const std::vector<bool>& wanted;
  std::vector<ValueId>& d_inputs;
};

struct OpDef {
  std::string name;
  int driver = -1;
  int scalar = -1;  // the input that is one number (the gradient of a loss); plans do not count it as read
  /// The attribute struct that it takes, with its defaults.
  Attributes attributes = NoAttrs{};
  /// Returns the result type; throws kConfig where the inputs do not fit.
  TensorType (*infer)(const Attributes& attrs, std::span<const TensorType> inputs) = nullptr;
  /// The box of `input` that is needed for `iteration` (a box of the result, or of the driver). It may reach outside
  /// the tensor, where values read as zero. Null: the same box with all channels (element by element).
  Box (*needed)(const OpContext& op, int input, const Box& iteration) = nullptr;
  /// Contractions: the box of the result that the iteration box adds to. Null: all of it.
  Box (*adds_to)(const OpContext& op, const Box& iteration) = nullptr;
  /// Maps a cut at `boundary` of axis `axis` of the first cut input to the result, unless the result follows another
  /// value (Node::follows). Null: no mapping; an axis of another extent is then cut anew.
  std::int64_t (*boundary)(const OpContext& op, int axis, std::int64_t boundary) = nullptr;
  /// Null: no gradient (a gradient op itself, or an op whose gradient another op carries).
  void (*differentiate)(GradientContext& gradient) = nullptr;
  /// The grain of blocks, per axis of the result (of the driver in a contraction); null or empty: none. Blocks begin on
  /// multiples of it in global coordinates where the cut allows. Otherwise the inputs that a block needs are rounded
  /// out to the grain: a cut off the grain costs margin, not bits. In contractions they are not rounded out, so that
  /// each element is summed once.
  Dims (*grain)(const OpContext& op) = nullptr;
  /// For ops whose weights outweigh activations: the number of equal channel slices, along the last axis of blocks,
  /// that become tasks. The result then lies whole on the first core of a replica, which gathers its inputs by an
  /// exchange, and no weight is read by two tasks. Null or 1: blocks split voxels, on every core.
  std::int64_t (*slices)(const OpContext& op) = nullptr;
  /// The input that kernels want as a reordered copy, made by an instruction of its own in front of the op. Null: none.
  int (*packed)(const OpContext& op) = nullptr;
  /// Floating-point operations and bytes for an iteration box.
  Work (*work)(const OpContext& op, const Box& iteration) = nullptr;
  /// Returns the attributes with the chosen kernel filled in. The choice depends on global shapes, types and this
  /// processor, never on a block. Null: there is no choice.
  Attributes (*choose)(const OpContext& op, Convolution from) = nullptr;
  /// True when the chosen kernel runs on this processor. Null: always.
  bool (*runs)(const OpContext& op) = nullptr;
  std::unique_ptr<Kernel> (*kernel)(const OpContext& op, KernelSet set) = nullptr;
  /// Contractions: the typical size of one addend, from the size of each input (root mean square of its widest
  /// channel). It scales the allowed difference between a cut sum and the whole one. Null: the size of the driver.
  double (*addend)(std::span<const double> rms) = nullptr;
  OpSample sample = {};
};

class OpTable {
 public:
  void add(OpDef def) { ops_.emplace(def.name, std::move(def)); }
  /// Errors: kInternal for an unknown name.
  const OpDef& at(const std::string& name) const;
  const std::map<std::string, OpDef>& all() const { return ops_; }

 private:
  std::map<std::string, OpDef> ops_;
};

/// The grain of blocks of the op, 1 along axes without one.
Dims grain_of(const OpDef& def, const OpContext& op);
/// OpDef::slices with its default, 1.
std::int64_t slices_of(const OpDef& def, const OpContext& op);
/// `box` with its ends moved out to multiples of the grain, within `shape`.   example: 3:6 of 7 with a grain of 4 ->
/// 0:7
Box rounded_out(const Box& box, const Dims& grain, const Shape& shape);
/// OpDef::needed for a box that is rounded out to the grain; its default: all channels of the same box, the whole
/// tensor for an input with another number of axes.
Box needed_box(const OpDef& def, const OpContext& op, int input, const Box& iteration);
/// OpDef::adds_to with its default, the whole result.
Box result_box(const OpDef& def, const OpContext& op, const Box& iteration);
/// OpDef::work with its default: one flop per element, all needed bytes once.
Work work_of(const OpDef& def, const OpContext& op, const Box& iteration);

}  // namespace voxshard
