// Batch and instance norm in pieces, so that the sums of a norm use the same all-reduce over cores as every
// contraction. gamma and beta are (C); stats and sums are (G, C, 2), see libcore/kernels/norm.h.
//
//   moment_sums {x} -> sums            norm_stats {sums} -> stats      norm_apply {x, stats, gamma, beta} -> y
//   norm_grad_sums {x, stats, gamma, beta, d_y} -> sums                norm_input_grad {..., d_y, sums} -> d_x
//   group_column {sums} column -> (C)  group_moments {sums} -> (C, 2) {mean, variance}, averaged over groups
//   running_stats {moments} -> stats (1, C, 2)
#include "libcore/kernels/norm.h"

#include "libcore/graph/builder.h"
#include "libcore/ops/box_rules.h"
#include "libcore/ops/op_table.h"

namespace voxshard {
namespace {

NormSpec spec_of(const OpContext& op) {
  const auto& a = attrs_of<NormAttrs>(op.attrs);
  return {.groups = a.groups, .batch = a.batch, .count = a.count, .epsilon = a.epsilon, .slope = a.slope};
}

TensorType infer_norm_sums(const Attributes& given, std::span<const TensorType> in) {
  const auto& attrs = attrs_of<NormAttrs>(given);
  require(in.size() == 1, "expected one input");
  const std::int64_t batch = in[0].shape[0];
  require(
      attrs.batch == batch && attrs.groups >= 1 && batch % attrs.groups == 0,
      "a batch of " + std::to_string(batch) + " cannot be cut into " + std::to_string(attrs.groups) + " equal groups");
  return {DType::kF64, {attrs.groups, in[0].shape.back(), 2}};
}

TensorType infer_stats(const Attributes& attrs, std::span<const TensorType> in) {
  require(in.size() == 1, "expected sums");
  return {attrs_of<NormAttrs>(attrs).dtype, in[0].shape};
}

template <std::size_t kInputs>
TensorType infer_apply(const Attributes& attrs, std::span<const TensorType> in) {
  require(in.size() == kInputs, "expected x, stats, gamma, beta and for gradients d_y and sums");
  const auto& [groups, batch, count, epsilon, slope, dtype] = attrs_of<NormAttrs>(attrs);
  require(groups >= 1 && batch >= 1, "expected at least one group and one sample");
  const std::int64_t channels = in[0].shape.back();
  require_shape(in, 1, {groups, channels, 2});
  require_shape(in, 2, {channels});
  require_shape(in, 3, {channels});
  if (in.size() > 4) require_shape(in, 4, in[0].shape);
  if (in.size() > 5) require_shape(in, 5, {groups, channels, 2});
  return in[0];
}

TensorType infer_grad_sums(const Attributes& attrs, std::span<const TensorType> in) {
  infer_apply<5>(attrs, in);
  return {DType::kF64, in[1].shape};
}

void require_sums(std::span<const TensorType> in) {
  require(in.size() == 1 && in[0].shape.axes() == 3 && in[0].shape[2] == 2, "expected sums (G, C, 2)");
}

TensorType infer_column(const Attributes& attrs, std::span<const TensorType> in) {
  require_sums(in);
  const std::int64_t column = attrs_of<ColumnAttrs>(attrs).column;
  require(column == 0 || column == 1, "expected column 0 or 1");
  return {DType::kF32, {in[0].shape[1]}};
}
TensorType infer_moments(const Attributes&, std::span<const TensorType> in) {
  require_sums(in);
  return {DType::kF32, {in[0].shape[1], 2}};
}
TensorType infer_running(const Attributes& attrs, std::span<const TensorType> in) {
  require(in.size() == 1 && in[0].shape.axes() == 2, "expected moments (C, 2)");
  return {attrs_of<NormAttrs>(attrs).dtype, {1, in[0].shape[0], 2}};
}

Box norm_needs(const OpContext& op, int input, const Box& it) {
  const Shape& shape = op.inputs[input].shape;
  if (input == 0 || input == 4) return it;                                                   // x, d_y
  if (input == 1 || input == 5) return groups_of(attrs_of<NormAttrs>(op.attrs), it, shape);  // stats, sums
  return Box::whole(shape);
}

void differentiate_apply(GradientContext& g) {
  Builder& b = g.builder;
  const auto& in = g.node.inputs;
  const Attributes& attrs = g.node.attrs;
  const std::string name = "grad/" + g.node.name;
  const ValueId sums = b.op("norm_grad_sums", {in[0], in[1], in[2], in[3], g.d_result}, attrs, name + "/sums");
  // The statistics depend on x; norm_input_grad includes their gradient, so nothing flows through input 1.
  if (g.wanted[0])
    g.d_inputs[0] = b.op("norm_input_grad", {in[0], in[1], in[2], in[3], g.d_result, sums}, attrs, name + "/input");
  if (g.wanted[2]) g.d_inputs[2] = b.op("group_column", {sums}, ColumnAttrs{.column = 1}, name + "/gamma");
  if (g.wanted[3]) g.d_inputs[3] = b.op("group_column", {sums}, ColumnAttrs{.column = 0}, name + "/beta");
}

std::unique_ptr<Kernel> norm_sums_kernel(const OpContext& op, KernelSet set) {
  return std::make_unique<FunctionKernel>([fn = norm_kernels(set).moment_sums, spec = spec_of(op)](
                                              const KernelCall& c) { fn(c.inputs[0].lifted(), c.output, spec); });
}

/// For ops that map per-channel numbers to per-channel numbers.
template <auto kMember>
std::unique_ptr<Kernel> stats_kernel(const OpContext& op, KernelSet set) {
  return std::make_unique<FunctionKernel>(
      [fn = norm_kernels(set).*kMember, spec = spec_of(op)](const KernelCall& c) { fn(c.inputs[0], c.output, spec); });
}

std::unique_ptr<Kernel> apply_kernel(const OpContext& op, KernelSet set) {
  return std::make_unique<FunctionKernel>([fn = norm_kernels(set).apply, spec = spec_of(op)](const KernelCall& c) {
    fn(c.inputs[0].lifted(), c.inputs[1], c.inputs[2], c.inputs[3], c.output.lifted(), spec);
  });
}

std::unique_ptr<Kernel> grad_sums_kernel(const OpContext& op, KernelSet set) {
  return std::make_unique<FunctionKernel>([fn = norm_kernels(set).grad_sums, spec = spec_of(op)](const KernelCall& c) {
    fn(c.inputs[0].lifted(), c.inputs[1], c.inputs[2], c.inputs[3], c.inputs[4].lifted(), c.output, spec);
  });
}

std::unique_ptr<Kernel> input_grad_kernel(const OpContext& op, KernelSet set) {
  return std::make_unique<FunctionKernel>([fn = norm_kernels(set).input_grad, spec = spec_of(op)](const KernelCall& c) {
    fn(c.inputs[0].lifted(), c.inputs[1], c.inputs[2], c.inputs[3], c.inputs[4].lifted(), c.inputs[5],
       c.output.lifted(), spec);
  });
}

std::unique_ptr<Kernel> column_kernel(const OpContext& op, KernelSet set) {
  return std::make_unique<FunctionKernel>(
      [fn = norm_kernels(set).group_column, column = attrs_of<ColumnAttrs>(op.attrs).column](const KernelCall& c) {
        fn(c.inputs[0], column, c.output);
      });
}

/// A use with the first `count` inputs of a norm or its gradient.
OpUse norm_sample(DType stored, const Shape& x, std::size_t count) {
  const TensorType stats{DType::kF32, {1, x.back(), 2}}, channel{DType::kF32, {x.back()}};
  OpUse use{NormAttrs{.count = static_cast<double>(element_count(x) / x.back()), .epsilon = 1e-3, .slope = 0},
            {{stored, x}, stats, channel, channel, {stored, x}, {DType::kF64, stats.shape}}};
  use.inputs.resize(count);
  return use;
}

OpUse moment_sums_sample(DType stored, const Shape& x) { return norm_sample(stored, x, 1); }
OpUse apply_sample(DType stored, const Shape& x) { return norm_sample(stored, x, 4); }
OpUse grad_sums_sample(DType stored, const Shape& x) { return norm_sample(stored, x, 5); }
OpUse input_grad_sample(DType stored, const Shape& x) { return norm_sample(stored, x, 6); }
/// Samples with two numbers per channel.
OpUse norm_sums_sample(DType, const Shape& x) {
  return {NormAttrs{.epsilon = 1e-3}, {{DType::kF64, {1, element_count(x), 2}}}};
}
OpUse column_sample(DType, const Shape& x) { return {ColumnAttrs{1}, {{DType::kF64, {1, element_count(x), 2}}}}; }
OpUse running_sample(DType, const Shape& x) {
  return {NormAttrs{.epsilon = 1e-3}, {{DType::kF32, {element_count(x), 2}}}};
}

}  // namespace

void add_norm_ops(OpTable& table) {
  const NormAttrs norm;
  table.add({.name = "moment_sums",
             .driver = 0,
             .attributes = norm,
             .infer = infer_norm_sums,
             .needed = norm_needs,
             .adds_to = adds_to_groups<NormAttrs>,
             .kernel = norm_sums_kernel,
             .addend = [](std::span<const double> rms) { return rms[0] + rms[0] * rms[0]; },
             .sample = {.memory = moment_sums_sample}});
  table.add({.name = "norm_stats",
             .attributes = norm,
             .infer = infer_stats,
             .kernel = stats_kernel<&NormKernels::stats>,
             .sample = {.memory = norm_sums_sample, .few = true}});
  table.add({.name = "norm_apply",
             .attributes = norm,
             .infer = infer_apply<4>,
             .needed = norm_needs,
             .differentiate = differentiate_apply,
             .kernel = apply_kernel,
             .sample = {.memory = apply_sample}});
  table.add({.name = "norm_grad_sums",
             .driver = 0,
             .attributes = norm,
             .infer = infer_grad_sums,
             .needed = norm_needs,
             .adds_to = adds_to_groups<NormAttrs>,
             .kernel = grad_sums_kernel,
             .addend = [](std::span<const double> rms) { return 2 * rms[4]; },
             .sample = {.memory = grad_sums_sample}});
  table.add({.name = "norm_input_grad",
             .attributes = norm,
             .infer = infer_apply<6>,
             .needed = norm_needs,
             .kernel = input_grad_kernel,
             .sample = {.memory = input_grad_sample}});
  table.add({.name = "group_column",
             .driver = 0,
             .attributes = ColumnAttrs{},
             .infer = infer_column,
             .kernel = column_kernel,
             .sample = {.memory = column_sample, .few = true}});
  table.add({.name = "group_moments",
             .driver = 0,
             .attributes = norm,
             .infer = infer_moments,
             .kernel = stats_kernel<&NormKernels::group_moments>,
             .sample = {.memory = norm_sums_sample, .few = true}});
  table.add({.name = "running_stats",
             .attributes = norm,
             .infer = infer_running,
             .kernel = stats_kernel<&NormKernels::running_stats>,
             .sample = {.memory = running_sample, .few = true}});
}

}  // namespace voxshard
