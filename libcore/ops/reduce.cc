// Sums over axes that the layout may cut: partial on each core, combined by the all-reduce that follows every
// contraction.
//
//   channel_sum {x} -> (C)        sum_all {x} -> (1) f64
#include "libcore/graph/builder.h"
#include "libcore/kernels/pointwise.h"
#include "libcore/ops/box_rules.h"
#include "libcore/ops/op_table.h"

namespace voxshard {
namespace {

TensorType infer_channel_sum(const Attributes&, std::span<const TensorType> in) {
  require(in.size() == 1, "expected one input");
  return {in[0].dtype == DType::kF64 ? DType::kF64 : DType::kF32, {in[0].shape.back()}};
}
TensorType infer_sum_all(const Attributes&, std::span<const TensorType> in) {
  require(in.size() == 1, "expected one input");
  return {DType::kF64, {1}};
}

void differentiate_sum(GradientContext& g) {
  g.d_inputs[0] = g.builder.op("broadcast_like", {g.d_result, g.node.inputs[0]}, {}, "grad/" + g.node.name);
}

template <auto kMember>
std::unique_ptr<Kernel> sum_kernel(const OpContext&, KernelSet set) {
  return std::make_unique<FunctionKernel>(
      [fn = pointwise_kernels(set).*kMember](const KernelCall& c) { fn(c.inputs[0], c.output); });
}

OpUse sum_sample(DType stored, const Shape& x) { return {{}, {{stored, x}}}; }

}  // namespace

void add_reduce_ops(OpTable& table) {
  table.add({.name = "channel_sum",
             .driver = 0,
             .infer = infer_channel_sum,
             .kernel = sum_kernel<&PointwiseKernels::channel_sum>,
             .sample = {.memory = sum_sample}});
  table.add({.name = "sum_all",
             .driver = 0,
             .infer = infer_sum_all,
             .differentiate = differentiate_sum,
             .kernel = sum_kernel<&PointwiseKernels::sum_all>,
             .sample = {.memory = sum_sample}});
}

}  // namespace voxshard
