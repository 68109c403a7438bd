#include "tests/check/faults/damaged_kernel.h"

namespace voxshard::test {
namespace {

/// A copy with the strides of the original, because kernels choose their code by strides.
struct StridedCopy {
  explicit StridedCopy(const TensorView& from) : view(from) {
    std::int64_t span = 1;
    for (int a = 0; a < from.axes(); ++a) span += (from.extent()[a] - 1) * from.strides[a];
    memory = Tensor(from.dtype, {from.box.empty() ? 0 : span});
    view.data = memory.data();
    if (!from.box.empty()) copy(from, view);
  }
  Tensor memory;
  TensorView view;
};

}  // namespace

void DamagedKernel::pack(const TensorView& weights, std::byte* packed, std::int64_t task) const {
  if (damage_.read < 0 || damage_.read != packed_input()) return real_->pack(weights, packed, task);
  const StridedCopy damaged(weights);
  damage_.before(damaged.view);
  real_->pack(damaged.view, packed, task);
}

void DamagedKernel::run(const KernelCall& call) const {
  if (damage_.read >= 0) {
    std::vector<TensorView> inputs(call.inputs.begin(), call.inputs.end());
    TensorView& input = inputs[damage_.read];
    const StridedCopy damaged(input);
    if (!input.box.empty()) damage_.before(damaged.view);
    input = damaged.view;
    real_->run({.inputs = inputs, .output = call.output, .packed = call.packed, .workspace = call.workspace});
  } else {
    real_->run(call);
  }
  if (damage_.written) damage_.written(call.output);
}

}  // namespace voxshard::test
