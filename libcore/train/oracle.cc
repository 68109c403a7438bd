#include "libcore/train/oracle.h"

#include <algorithm>
#include <cmath>

#include "libcore/base/error.h"

namespace voxshard {
namespace {

constexpr std::int64_t kTasks = 16;

Tensor absolute(const Tensor& values) {
  Tensor result(values.dtype(), values.shape());
  for (std::int64_t i = 0; i < values.count(); ++i) store(result.view(), i, std::abs(load(values.view(), i)));
  return result;
}

}  // namespace

std::vector<Box> Oracle::boxes(std::size_t index, double most_flops) const {
  const Instruction& instruction = program_.instructions[index];
  const Node& node = program_.graph.node(instruction.value);
  const OpDef& def = ops_.at(node.op);
  const auto types = program_.graph.input_types(instruction.value);
  const OpContext op{node.attrs, types, node.type};
  const std::vector<Box>& blocks = instruction.blocks.front();
  if (def.driver >= 0) {
    double flops = 0;
    for (const Box& block : blocks) flops += work_of(def, op, block).flops;
    return flops <= most_flops ? blocks : std::vector<Box>();
  }
  const Box whole = Box::whole(node.type.shape);
  const double flops = work_of(def, op, whole).flops;
  if (flops <= most_flops) return split_blocks(whole, kTasks);
  const std::vector<Box> planes = split_blocks(whole, static_cast<std::int64_t>(std::ceil(2 * flops / most_flops)));
  std::vector<Box> sample{planes.front()};
  if (planes.size() > 1)
    sample.push_back(planes[1 + static_cast<std::size_t>(instruction.value) % (planes.size() - 1)]);
  return sample;
}

void Oracle::run(ValueId id, const Kernel& kernel, const std::vector<Tensor>& inputs, const Box& box,
                 const TensorView& output) const {
  const Node& node = program_.graph.node(id);
  const OpDef& def = ops_.at(node.op);
  const auto types = program_.graph.input_types(id);
  const OpContext op{node.attrs, types, node.type};
  std::vector<Tensor> padded;
  padded.reserve(inputs.size());
  std::vector<TensorView> views;
  for (std::size_t slot = 0; slot < inputs.size(); ++slot) {
    const TensorView whole = inputs[slot].view();
    const Box need = needed_box(def, op, static_cast<int>(slot), box), inside = intersect(need, whole.box);
    if (need == inside || program_.replicated(node.inputs[slot])) {
      views.push_back(whole.sub(inside));
      continue;
    }
    padded.emplace_back(whole.dtype, need.extent);
    views.push_back(dense_view(padded.back().data(), whole.dtype, need));
    if (!inside.empty()) copy(whole, views.back().sub(inside));
  }
  ensure(kernel.packed_bytes() == 0, "a reference kernel reorders no weights");
  Tensor workspace(DType::kU8, {kernel.workspace_bytes({.inputs = views, .output = output})});
  kernel.run({.inputs = views, .output = output, .workspace = workspace.data()});
}

Tensor Oracle::result(ValueId id, const std::vector<Tensor>& inputs, const std::vector<Box>& boxes) const {
  const Node& node = program_.graph.node(id);
  const OpDef& def = ops_.at(node.op);
  const auto types = program_.graph.input_types(id);
  const OpContext op{node.attrs, types, node.type};
  const auto kernel = def.kernel(op, KernelSet::kReference);
  Tensor whole(is_float(node.type.dtype) ? DType::kF64 : node.type.dtype, node.type.shape);
  std::vector<Tensor> partial(boxes.size());
  pool_.run(static_cast<std::int64_t>(boxes.size()), [&](std::int64_t i, int) {
    const auto at = static_cast<std::size_t>(i);
    if (def.driver < 0) return run(id, *kernel, inputs, boxes[at], whole.view().sub(boxes[at]));
    const Box box = result_box(def, op, boxes[at]);
    partial[at] = Tensor(whole.dtype(), box.extent);
    run(id, *kernel, inputs, boxes[at], dense_view(partial[at].data(), whole.dtype(), box));
  });
  if (def.driver < 0) return whole;
  for (std::size_t i = 0; i < boxes.size(); ++i) {
    const Box box = result_box(def, op, boxes[i]);
    Tensor sum(whole.dtype(), box.extent);
    const TensorView part = whole.view().sub(box), total = dense_view(sum.data(), whole.dtype(), box);
    copy(part, total);
    for (std::int64_t k = 0; k < sum.count(); ++k) store(total, k, load(total, k) + load(partial[i].view(), k));
    copy(total, part);
  }
  return whole;
}

double Oracle::products(ValueId id) const {
  const Node& node = program_.graph.node(id);
  const OpDef& def = ops_.at(node.op);
  if (def.driver >= 0) return 0;
  const auto types = program_.graph.input_types(id);
  const Products p = work_of(def, {node.attrs, types, node.type}, Box::whole(node.type.shape)).products;
  return p.count * p.inner;
}

Tensor Oracle::magnitudes(ValueId id, const std::vector<Tensor>& inputs, const std::vector<Box>& boxes) const {
  std::vector<Tensor> sizes;
  for (const Tensor& input : inputs) sizes.push_back(absolute(input));
  return result(id, sizes, boxes);
}

}  // namespace voxshard
