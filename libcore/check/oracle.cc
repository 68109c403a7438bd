#include "libcore/check/oracle.h"

#include <cmath>

#include "libcore/base/error.h"
#include "libcore/tensor/rows.h"

namespace voxshard {
namespace {

constexpr std::int64_t kTasks = 16;

DType reference_type(DType dtype) { return is_float(dtype) ? DType::kF64 : dtype; }

}  // namespace

Box Layer::iteration() const { return Box::whole(def->driver < 0 ? result.shape : types[def->driver].shape); }

Layer layer_of(const Program& program, const OpTable& ops, ValueId id, std::vector<TensorView> inputs) {
  const Node& node = program.graph.node(id);
  Layer layer{.def = &ops.at(node.op), .attrs = node.attrs, .result = node.type, .inputs = std::move(inputs)};
  layer.types = program.graph.input_types(id);
  for (ValueId input : node.inputs) layer.replicated.push_back(program.replicated(input));
  return layer;
}

double flops_of(const Layer& layer) { return work_of(*layer.def, layer.op(), layer.iteration()).flops; }

Tensor reference_part(const Layer& layer, const Box& box) {
  const OpContext op = layer.op();
  const auto kernel = layer.def->kernel(op, KernelSet::kReference);
  std::vector<Tensor> padded;
  padded.reserve(layer.inputs.size());
  std::vector<TensorView> views;
  for (std::size_t slot = 0; slot < layer.inputs.size(); ++slot) {
    const TensorView& whole = layer.inputs[slot];
    const Box need = needed_box(*layer.def, op, static_cast<int>(slot), box), inside = intersect(need, whole.box);
    if (need == inside || layer.replicated[slot]) {
      views.push_back(whole.sub(inside));
      continue;
    }
    padded.emplace_back(whole.dtype, need.extent);
    views.push_back(dense_view(padded.back().data(), whole.dtype, need));
    if (!inside.empty()) copy(whole.sub(inside), views.back().sub(inside));
  }
  const Box gives = layer.def->driver < 0 ? box : result_box(*layer.def, op, box);
  Tensor part(reference_type(layer.result.dtype), gives.extent);
  const TensorView output = dense_view(part.data(), part.dtype(), gives);
  ensure(kernel->packed_bytes() == 0, "a reference kernel reorders no weights");
  Tensor workspace(DType::kU8, {kernel->workspace_bytes({.inputs = views, .output = output})});
  kernel->run({.inputs = views, .output = output, .workspace = workspace.data()});
  return part;
}

Tensor reference_sum(const Layer& layer, const std::vector<Box>& blocks, WorkerPool& pool) {
  std::vector<Tensor> parts(blocks.size());
  pool.run(std::ssize(blocks), [&](std::int64_t i, int) {
    const auto at = static_cast<std::size_t>(i);
    parts[at] = reference_part(layer, blocks[at]);
  });
  Tensor whole(reference_type(layer.result.dtype), layer.result.shape);
  const TensorView total = whole.view();
  for (std::size_t i = 0; i < blocks.size(); ++i) {
    const Box box = result_box(*layer.def, layer.op(), blocks[i]);
    const TensorView part = dense_view(parts[i].data(), parts[i].dtype(), box);
    for_each_row(box, [&](const Dims& at) {
      const std::int64_t from = offset_at(part, at), to = offset_at(total, at);
      for (std::int64_t k = 0; k < row_count(box); ++k)
        store(total, to + k, load(total, to + k) + load(part, from + k));
    });
  }
  return whole;
}

double products_of(const Layer& layer) {
  if (layer.def->driver >= 0) return 0;
  const Products p = work_of(*layer.def, layer.op(), layer.iteration()).products;
  return p.count * p.inner;
}

OwnedLayer magnitudes_of(const Layer& layer, WorkerPool& pool) {
  OwnedLayer sizes{.layer = layer};
  for (const TensorView& input : layer.inputs) sizes.values.push_back(absolute(input, pool));
  for (std::size_t i = 0; i < sizes.values.size(); ++i) sizes.layer.inputs[i] = sizes.values[i].view();
  return sizes;
}

Tensor absolute(const TensorView& values, WorkerPool& pool) {
  Tensor result(values.dtype, values.extent());
  const TensorView to = result.view();
  for_each_part(values.box, pool, [&](const Box& part) {
    std::vector<double> row(static_cast<std::size_t>(row_count(part)));
    for_each_row(part, [&](const Dims& at) {
      load_row(values, offset_at(values, at), std::ssize(row), row.data());
      for (double& v : row) v = std::abs(v);
      store_row(to, offset_at(to, at), std::ssize(row), row.data());
    });
  });
  return result;
}

std::vector<Box> parts_of(const Box& box) { return split_blocks(box, kTasks); }

void for_each_part(const Box& box, WorkerPool& pool, const std::function<void(const Box&)>& body) {
  const std::vector<Box> parts = parts_of(box);
  pool.run(std::ssize(parts), [&](std::int64_t i, int) { body(parts[i]); });
}

}  // namespace voxshard
