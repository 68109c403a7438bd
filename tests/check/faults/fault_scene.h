// A network that has run with every value kept, in whose kernels faults are planted one at a time: the damaged kernel
// of one node runs again on the values that are there, that node alone is compared with the slow kernels, and the node
// is put back. So a fault costs one layer.
//
//   FaultScene scene({.graph = build_unet(...), .dtype = DType::kBF16}, pool);
//   for (const ValueId id : scene.places(1)) table.row(scene.plant(id, fault_named("one tap dropped")));
#pragma once

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

/// What the check says of a planted fault, with the words of a table's row.
struct PlantedRow {
  std::string kernel, pass, layer, size, fault;
  std::string found;     // the layer that the check names; empty: none
  double ratio = 0;      // difference / allowed
  bool changed = false;  // whether the damage changed the stored result at all
};

class FaultScene {
 public:
  FaultScene(const FaultSceneOptions& options, WorkerPool& pool);

  /// Nodes whose kernels are of the families that faults are planted in, at most `each` per op, kernel and window: the
  /// one with the most voxels, then the one with the most channels, and so on in turn.
  std::vector<ValueId> places(int each) const;
  /// Absent where the node cannot have this fault. `old_limit`: large layers are left out.
  std::optional<PlantedRow> plant(ValueId id, const Fault& fault, bool old_limit = false);
  /// The check of the node as it is.
  LayerReport check(ValueId id, bool old_limit = false) const;
  /// The row of a node without a fault.
  PlantedRow row(ValueId id) const;
  /// Whether some convolution of that pass is computed by the kernel.
  bool has(ConvKernel kernel, const std::string& op) const;

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
