// Shows that a partitioned model computes what the uncut one computes.
//
// Layer by layer: each instruction of the cut program is fed the uncut run's values and must give the uncut result, bit for
// bit where no sum is cut, else within a tolerance from the length of the sum. Margins are compared too, so a lost or
// wrong exchange is named at its layer. End to end: loss, gradients and weights after one SGD step may differ by no more
// than a small multiple of what the uncut run differs from itself at higher precision (bf16 against f32, f32 against f64).
// A model that recomputes is compared layer by layer with itself uncut, end to end with the uncut model that does not.
#pragma once

#include "libcore/graph/recompute.h"
#include "libcore/ops/op_table.h"
#include "libcore/runtime/session.h"

namespace voxshard {

struct EquivalenceOptions {
  const OpTable& ops = op_table();
  /// The training graph for activations of a type.
  std::function<Graph(DType dtype)> factory;
  DType dtype = DType::kF32;
  Cut cut;  // what it recomputes counts for the cut model; the uncut one keeps everything
  KernelSet kernels = KernelSet::kFast;
  std::uint64_t seed = 0;
  Transport* transport = nullptr;  // null: in process
};

struct LayerDifference {
  std::string layer;
  std::string what;  // "result", "margin", "loss", "gradient", "updated weights"
  double difference = 0;
  double tolerance = 0;
};

struct EquivalenceReport {
  std::optional<LayerDifference> first_difference;  // the first layer that differs by more than allowed
  int layers = 0;               // results compared layer by layer
  int bit_equal = 0;            // of them equal to the bit
  int within_tolerance = 0;     // sums that were cut, within tolerance
  double widest_ratio = 0;      // largest difference / tolerance among those
  double loss_uncut = 0, loss_cut = 0, loss_higher = 0;
  double end_to_end_ratio = 0;  // largest difference / allowance over loss, gradients and updated weights
  int tensors = 0;              // compared end to end

  bool equal() const { return !first_difference; }
};

/// Errors: those of the partition and the model.
EquivalenceReport check_equivalence(const EquivalenceOptions& options, WorkerPool& pool);

}  // namespace voxshard
