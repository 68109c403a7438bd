// Shows that a partitioned model computes the same as the uncut one.
//
//   Equivalence uncut({.factory = ..., .dtype = DType::kBF16, .oracle = Oracles::kSampled}, pool);
//   for (const Cut& cut : cuts) if (!uncut.check(cut).equal()) ...
//
// Kernels: each layer of the uncut run is computed again by the slow kernels in f64 from the same stored inputs
// (kernel_check.h), so that a wrong kernel is found although both sides run it. When every layer is within its bound,
// the difference of the network from an exact one is due to its condition and no fault. Layer by layer: each
// instruction of the cut program, under its real memory plan in checked arenas, is fed the uncut run's values and must
// give the uncut result, bit for bit where no sum is cut, else within a tolerance from the length of the sum. Margins
// are compared too, so a lost or wrong exchange is reported at its layer. End to end: loss, gradients and weights after
// one SGD step may differ as far as the length of the longest sum allows (end_to_end.h). Where products were added in
// another order, so that every layer differs by roundings, they may differ by a small multiple of the change of the
// uncut run when every parameter moves by the roundings of a sum. That change measures how the model amplifies a
// rounding: it may be small, or large as in bf16 or with a norm over few voxels. A model that recomputes is compared
// layer by layer with itself uncut, and end to end with the uncut model that does not recompute.
#pragma once

#include <memory>
#include <string_view>

#include "libcore/check/layer_check.h"
#include "libcore/graph/recompute.h"
#include "libcore/kernels/optimizer.h"

namespace voxshard {

/// The reference for the uncut network's kernels: kFast none; kSampled the slow kernels, with large layers compared by
/// sums of their channels; kReference the slow kernels on whole layers, which then also run the f32 network in f64.
enum class Oracles : std::uint8_t { kFast, kSampled, kReference };
inline constexpr const char* kOracleNames[] = {"fast", "sampled", "reference"};
/// Errors: kConfig for an unknown name.
Oracles oracle_from_name(std::string_view name);

struct EquivalenceOptions {
  using Lower = std::function<Executable(const Graph& graph, const OpTable& ops, const Cut& cut, const Target& target)>;

  const OpTable& ops = op_table();
  /// The training graph for activations of a type.
  std::function<Graph(DType dtype)> factory;
  DType dtype = DType::kF32;
  Cut cut;  // its recomputation applies to the cut model; the uncut one keeps everything
  KernelSet kernels = KernelSet::kFast;
  Oracles oracle = Oracles::kSampled;
  const OptimizerKernels& optimizer = fast::optimizer;  // compared with the slow ones, except under kFast
  std::uint64_t seed = 0;
  Transport* transport = nullptr;  // null: in one process
  Lower lower = voxshard::lower;   // lowers the cut model; a test may plant faults here
  /// Reports the current stage ("kernels", "over 1x2x1x1x1"), its progress and the current layer.
  std::function<void(const std::string& stage, std::int64_t done, std::int64_t total, const std::string& layer)>
      progress = {};
};

struct EquivalenceReport {
  std::optional<LayerDifference> first_difference;  // the first layer that differs by more than allowed
  LayerReport kernels;                              // kernels of the uncut network against the slow ones
  LayerReport optimizers;                           // each kind on each parameter, against the slow ones
  int layers = 0;                                   // results compared layer by layer
  int bit_equal = 0;                                // results among them equal to the bit
  int within_tolerance = 0;                         // sums whose order the cut changes, within tolerance
  double widest_ratio = 0;                          // largest difference / tolerance among these
  double loss_uncut = 0, loss_cut = 0;
  std::optional<double> loss_higher;  // in f64 by the slow kernels; set under kReference only
  /// Relative change of the gradients when every parameter moves by the roundings of a sum; set if it was measured.
  std::optional<double> condition;
  double end_to_end_ratio = 0;     // largest difference / allowance over loss, gradients and updated weights
  double end_to_end_relative = 0;  // largest difference of a gradient over its size
  int tensors = 0;                 // compared end to end

  bool equal() const { return !first_difference; }
  /// The kernels that were not compared: "grad/head/weights (conv_weight_grad)", "all kernels". Empty: equal() covers
  /// everything.
  std::vector<std::string> not_checked() const {
    if (kernels.compared == 0 && kernels.left_out.empty()) return {"all kernels"};
    return kernels.left_out;
  }
  void differ(const LayerDifference& found) {
    if (!first_difference) first_difference = found;
  }
};

class Equivalence {
 public:
  /// Runs the uncut model. Objects that `options` refers to must outlive this. Errors: those of the model.
  Equivalence(const EquivalenceOptions& options, WorkerPool& pool);
  ~Equivalence();
  /// Checks a cut, which recomputes the same as the options' cut. With several ranks each runs its cores of the cut
  /// model against the uncut one, which it holds whole; every rank calls this and gets the same report. Errors: those
  /// of the partition.
  EquivalenceReport check(const Cut& cut);

 private:
  struct Uncut;
  EquivalenceOptions options_;
  WorkerPool& pool_;
  std::unique_ptr<Uncut> uncut_;
};

/// Checks options.cut.
EquivalenceReport check_equivalence(const EquivalenceOptions& options, WorkerPool& pool);

}  // namespace voxshard
