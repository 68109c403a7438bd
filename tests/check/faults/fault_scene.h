// A network that has run with every value kept; faults are planted in its kernels one at a time. The damaged kernel of
// one node runs again on the stored values, that node alone is compared with the slow kernels, and the node is
// restored, so a fault costs the time of one layer.
//
//   FaultScene scene({.graph = build_unet(...), .dtype = DType::kBF16}, pool);
//   for (const ValueId id : scene.places(1)) table.row(scene.plant(id, fault_named("one tap dropped")));
#pragma once

#include <set>
#include <tuple>

#include "libcore/check/kernel_check.h"
#include "libcore/lower/lower.h"
#include "libcore/runtime/core_set.h"
#include "tests/check/faults/fault.h"

namespace voxshard::test {

struct FaultSceneOptions {
  std::function<Graph(DType dtype)> factory;  // with a loss
  DType dtype = DType::kF32;
  Convolution convolution = Convolution::kFast;
  ConvKernel kernel = ConvKernel::kAny;  // computes every convolution that it can; kAny: the table chooses
  std::uint64_t seed = 5;
};

/// A kernel, the op that it computes and the extents of the window: {kWinograd4, "conv_weight_grad", {3, 3, 3}}. kAny:
/// the op has no choice; no extents: it has no window.
using KernelUse = std::tuple<ConvKernel, std::string, Dims>;

/// The check's report on a planted fault, as a row of the printed table.
struct PlantedRow {
  std::string kernel, pass, layer, size, fault;
  std::string found;     // the layer that the check names; empty: none
  double ratio = 0;      // difference / allowed
  bool changed = false;  // true when the damage changed the stored result at all
};

class FaultScene {
 public:
  FaultScene(const FaultSceneOptions& options, WorkerPool& pool);

  /// Returns nodes whose ops can have faults planted in them, at most `each` per op, kernel and window: first the one
  /// with the most voxels, then the one with the most channels, and so on in turn.
  std::vector<ValueId> places(int each) const;
  /// Plants the fault and checks the node; nothing when it cannot have this fault. `old_limit`: large layers are left
  /// out.
  std::optional<PlantedRow> plant(ValueId id, const Fault& fault, bool old_limit = false);
  /// Checks the node as it is.
  LayerReport check(ValueId id, bool old_limit = false) const;
  /// Returns the row of a node without a fault.
  PlantedRow row(ValueId id) const;
  KernelUse use(ValueId id) const;
  /// Returns the uses in all convolutions of the graph and in the other ops that faults are planted in.
  std::set<KernelUse> uses() const;

 private:
  const Graph& graph() const { return executable_.program.graph; }
  void run_again(ValueId id);
  bool sums_to_zero(const Node& node) const;

  WorkerPool& pool_;
  InProcessTransport transport_;
  Executable executable_;
  Parameters parameters_;
  std::optional<CoreSet> cores_;
};

}  // namespace voxshard::test
