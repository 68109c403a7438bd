// Computes single layers by the slow kernels, in f64, from given input values: the reference for a fast kernel's
// result, and the magnitudes for its tolerance.
//
//   const Layer layer = layer_of(program, ops, id, inputs);
//   const Tensor exact = reference_part(layer, box);              // a box of the result, in the calling thread
//   const Tensor sum = reference_sum(layer, blocks, pool);        // a contraction, over all of its blocks
#pragma once

#include "libcore/base/parallel.h"
#include "libcore/partition/program.h"

namespace voxshard {

/// A use of an op with the whole values of its inputs. The objects that `def` and `inputs` refer to must outlive it.
struct Layer {
  const OpDef* def = nullptr;
  Attributes attrs;
  std::vector<TensorType> types;  // of the inputs
  TensorType result;
  std::vector<bool> replicated;  // inputs that are read without padding; others have zeros around them
  std::vector<TensorView> inputs;

  OpContext op() const { return {attrs, types, result}; }
  /// The box that is iterated over: the result, or the driver of a contraction.
  Box iteration() const;
};

/// Returns node `id` of a program as a layer, with `inputs` in the order of the node's inputs.
Layer layer_of(const Program& program, const OpTable& ops, ValueId id, std::vector<TensorView> inputs);

/// Returns the flops of the whole layer.
double flops_of(const Layer& layer);

/// Runs the slow kernel on an iteration box, in f64 (integers keep their type). Returns that box of the result, or for
/// a contraction the contribution of the box to result_box().
Tensor reference_part(const Layer& layer, const Box& box);

/// Returns the whole result of a contraction: the sum of the parts of `blocks`.
Tensor reference_sum(const Layer& layer, const std::vector<Box>& blocks, WorkerPool& pool);

/// Returns the number of products summed per element of a convolution's result; 0: the op is no convolution, or
/// contracts voxels.
double products_of(const Layer& layer);

/// A layer with other values of its inputs, which it owns.
struct OwnedLayer {
  Layer layer;
  std::vector<Tensor> values;  // storage of those inputs that are new
};

/// Returns the layer with the magnitudes of its inputs: for a convolution the result is the sum of |products| of each
/// element.
OwnedLayer magnitudes_of(const Layer& layer, WorkerPool& pool);

/// Returns |values|, in the same type.
Tensor absolute(const TensorView& values, WorkerPool& pool);

/// Returns boxes that tile `box`, for tasks whose results are read in their order; uncut along the last axis.
std::vector<Box> parts_of(const Box& box);
/// Calls body(part) for each of parts_of(box), as tasks of the pool.
void for_each_part(const Box& box, WorkerPool& pool, const std::function<void(const Box&)>& body);

}  // namespace voxshard
