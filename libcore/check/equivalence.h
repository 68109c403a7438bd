// Shows that a partitioned model computes what the uncut one computes.
//
//   Equivalence uncut({.factory = ..., .dtype = DType::kBF16, .oracle = Oracles::kSampled}, pool);
//   for (const Cut& cut : cuts) if (!uncut.check(cut).equal()) ...
//
// Kernels: each layer of the uncut run is computed again by the slow kernels in f64 from the same stored inputs
// (kernel_check.h), so that a wrong kernel is found although both sides run it; with every layer within its bound, what
// the network differs from an exact one by is its condition and no fault. Layer by layer: each instruction of the cut
// program, under its real memory plan in checked arenas, is fed the uncut run's values and must give the uncut result,
// bit for bit where no sum is cut, else within a tolerance from the length of the sum. Margins are compared too, so a
// lost or wrong exchange is named at its layer. End to end: loss, gradients and weights after one SGD step may differ
// by what the length of the longest sum allows (end_to_end.h). Where products were added in another order, so that
// every layer differs by roundings, they may differ by a small multiple of what the uncut run differs from itself when
// every parameter moves by the roundings of a sum: what the model makes of a rounding, be it small or large, as in bf16
// or with a norm over few voxels. A model that recomputes is compared layer by layer with itself uncut, end to end with
// the uncut model that does not.
#pragma once

#include <memory>
#include <string_view>

#include "libcore/check/layer_check.h"
#include "libcore/graph/recompute.h"
#include "libcore/kernels/optimizer.h"

namespace voxshard {

/// What the uncut network's kernels are compared with: nothing, the slow kernels with sums of the channels of large
/// layers, or in whole; the f32 network is then also run in f64 by them.
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
  Cut cut;  // what it recomputes counts for the cut model; the uncut one keeps everything
  KernelSet kernels = KernelSet::kFast;
  Oracles oracle = Oracles::kSampled;
  const OptimizerKernels& optimizer = fast::optimizer;  // compared with the slow ones, unless nothing is
  std::uint64_t seed = 0;
  Transport* transport = nullptr;  // null: in process
  Lower lower = voxshard::lower;   // of the cut model; a test's own plants faults
  /// What is being done ("kernels", "over 1x2x1x1x1"), how far it is, of which layer.
  std::function<void(const std::string& stage, std::int64_t done, std::int64_t total, const std::string& layer)>
      progress = {};
};

struct EquivalenceReport {
  std::optional<LayerDifference> first_difference;  // the first layer that differs by more than allowed
  LayerReport kernels;                              // of the uncut network against the slow ones
  LayerReport optimizers;                           // each kind on each parameter, against the slow ones
  int layers = 0;                                   // results compared layer by layer
  int bit_equal = 0;                                // of them equal to the bit
  int within_tolerance = 0;                         // sums whose order the cut changes, within tolerance
  double widest_ratio = 0;                          // largest difference / tolerance among those
  double loss_uncut = 0, loss_cut = 0;
  std::optional<double> loss_higher;  // in f64 by the slow kernels, where all is compared with them
  /// What moving every parameter by the roundings of a sum changes of the gradients, relative; where that was asked.
  std::optional<double> condition;
  double end_to_end_ratio = 0;     // largest difference / allowance over loss, gradients and updated weights
  double end_to_end_relative = 0;  // largest difference of a gradient over its size
  int tensors = 0;                 // compared end to end

  bool equal() const { return !first_difference; }
  /// What nothing was compared with: "grad/head/weights (conv_weight_grad)", "all kernels". Empty: equal() says all.
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
  /// Runs the uncut model. What `options` refers to outlives this. Errors: those of the model.
  Equivalence(const EquivalenceOptions& options, WorkerPool& pool);
  ~Equivalence();
  /// Errors: those of the partition. `cut` recomputes what the options' cut does. Of several ranks each runs its cores
  /// of the cut model against the uncut one, which it holds whole; all of them check, and all get the same report.
  EquivalenceReport check(const Cut& cut);

 private:
  struct Uncut;
  EquivalenceOptions options_;
  WorkerPool& pool_;
  std::unique_ptr<Uncut> uncut_;
};

/// Of options.cut.
EquivalenceReport check_equivalence(const EquivalenceOptions& options, WorkerPool& pool);

}  // namespace voxshard
