// Single layers by the slow kernels, in f64, from given values of their inputs: what a fast kernel's result is judged
// by, and by how much it may differ.
//
//   Oracle oracle(uncut_program, ops, pool);
//   const Tensor exact = oracle.result(id, inputs, oracle.boxes(index, 1e8));
//   const Tensor sizes = oracle.magnitudes(id, inputs, boxes);                   // of a convolution; see tolerance.h
#pragma once

#include "libcore/base/parallel.h"
#include "libcore/partition/program.h"

namespace voxshard {

class Oracle {
 public:
  /// `program`: uncut. All are referred to.
  Oracle(const Program& program, const OpTable& ops, WorkerPool& pool) : program_(program), ops_(ops), pool_(pool) {}

  /// Boxes that instruction `index` (a compute) iterates over. A result that is computed element by element may be
  /// sampled: as few planes as `most_flops` allow, the first and one inside. Empty: a sum that takes more than that.
  std::vector<Box> boxes(std::size_t index, double most_flops) const;

  /// The result of node `id` in f64 (integers as they are): the sum over the boxes of a contraction, else zero outside
  /// of them.
  ///   inputs   whole values in the order of the node's inputs
  Tensor result(ValueId id, const std::vector<Tensor>& inputs, const std::vector<Box>& boxes) const;

  /// How many products an element of a convolution's result adds up; 0: the op is none, or contracts voxels.
  double products(ValueId id) const;
  /// Of such an op the sum of |products| per element.
  Tensor magnitudes(ValueId id, const std::vector<Tensor>& inputs, const std::vector<Box>& boxes) const;

 private:
  void run(ValueId id, const Kernel& kernel, const std::vector<Tensor>& inputs, const Box& box,
           const TensorView& output) const;

  const Program& program_;
  const OpTable& ops_;
  WorkerPool& pool_;
};

}  // namespace voxshard
