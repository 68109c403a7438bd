// Single layers by the slow kernels, in f64, from given values of their inputs: what a fast kernel's result is judged
// by, and by how much it may differ.
//
//   const Layer layer = layer_of(program, ops, id, inputs);
//   const Tensor exact = reference_part(layer, box);              // of a box of the result, in the thread that asks
//   const Tensor sum = reference_sum(layer, blocks, pool);        // of a contraction, over all of its blocks
#pragma once

#include "libcore/base/parallel.h"
#include "libcore/partition/program.h"

namespace voxshard {

/// A use of an op with whole values of its inputs. What `def` and `inputs` refer to outlives it.
struct Layer {
  const OpDef* def = nullptr;
  Attributes attrs;
  std::vector<TensorType> types;  // of the inputs
  TensorType result;
  std::vector<bool> replicated;  // inputs that are read as they are; others have zeros around them
  std::vector<TensorView> inputs;

  OpContext op() const { return {attrs, types, result}; }
  /// What is iterated over: the result, or the driver of a contraction.
  Box iteration() const;
};

/// Node `id` of a program, with `inputs` in the order of the node's.
Layer layer_of(const Program& program, const OpTable& ops, ValueId id, std::vector<TensorView> inputs);

/// The flops of the whole layer.
double flops_of(const Layer& layer);

/// What the slow kernel makes of an iteration box, in f64 (integers as they are): that box of the result, or of a
/// contraction what the box adds to result_box().
Tensor reference_part(const Layer& layer, const Box& box);

/// The sum of the parts of `blocks`, whole. Of a contraction.
Tensor reference_sum(const Layer& layer, const std::vector<Box>& blocks, WorkerPool& pool);

/// How many products an element of a convolution's result adds up; 0: the op is none, or contracts voxels.
double products_of(const Layer& layer);

/// A layer with other values of its inputs, which it owns.
struct OwnedLayer {
  Layer layer;
  std::vector<Tensor> values;  // that its inputs look at, as far as they are new
};

/// The layer of the magnitudes of its inputs: of a convolution the result is the sum of |products| of each element.
OwnedLayer magnitudes_of(const Layer& layer, WorkerPool& pool);

/// |values|, in the same type.
Tensor absolute(const TensorView& values, WorkerPool& pool);

/// Boxes that tile `box`, for tasks that are looked at in their order; whole along the last axis.
std::vector<Box> parts_of(const Box& box);
/// Calls body(box) for each of them, as tasks of the pool.
void for_each_part(const Box& box, WorkerPool& pool, const std::function<void(const Box&)>& body);

}  // namespace voxshard
