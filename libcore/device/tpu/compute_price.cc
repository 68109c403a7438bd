#include "libcore/device/tpu/compute_price.h"

#include <algorithm>
#include <cmath>

#include "libcore/device/tpu/product_layout.h"

namespace voxshard {
namespace {

constexpr double kRowsAtATime = 8;  // a product streams 8 x 128 registers through the unit

double padded(double n, double to) { return std::ceil(n / to) * to; }

double memory_bytes(const TpuSpec& device, const Program& program, const Fusions& fusions, const OpDef& def,
                    const OpContext& op, ValueId id, const Box& iteration) {
  const auto& inputs = program.graph.node(id).inputs;
  double bytes = 0;
  for (int i = 0; i < static_cast<int>(inputs.size()); ++i)
    if (i != def.scalar) bytes += fusions.read_bytes(inputs[i], needed_box(def, op, i, iteration));
  const Box written = def.driver < 0 ? iteration : result_box(def, op, iteration);
  return written.empty() ? bytes : bytes + layout_bytes(device, program, id, written.extent);
}

/// Returns the products including the rows of samples that only fill the sublanes, where the device multiplies those
/// too.
Products with_padding(const TpuSpec& device, const OpDef& def, Products p, const Box& iteration) {
  if (!device.samples_pad_products || p.count <= 0 || iteration.extent.axes() < 4) return p;
  const std::int64_t samples = iteration.extent[0];
  double& voxels = def.driver < 0 ? p.rows : p.inner;  // a gradient of weights sums over them
  voxels *= static_cast<double>(padded_samples(samples)) / static_cast<double>(samples);
  return p;
}

/// Ticks of one unit to stream `rows` through tiles of inner x columns.
double ticks(const TpuSpec& device, double rows, double inner, double columns) {
  const double tile = static_cast<double>(device.matrix_tile);
  const double tiles = std::ceil(inner / tile) * std::ceil(columns / tile);
  const double loads = device.strip_rows > 0 ? std::ceil(rows / static_cast<double>(device.strip_rows)) : 1;
  return tiles * (padded(rows, kRowsAtATime) + loads * tile);
}

}  // namespace

double matrix_seconds(const TpuSpec& device, const Products& p) {
  if (p.count <= 0) return 0;
  const double least = std::min(ticks(device, p.rows, p.inner, p.columns), ticks(device, p.columns, p.inner, p.rows));
  return p.count * least / (static_cast<double>(device.matrix_units) * device.clock_hz);
}

Price compute_price(const TpuSpec& device, const Program& program, const OpTable& ops, const Fusions& fusions,
                    ValueId id, const Box& iteration) {
  if (iteration.empty() || fusions.fused(id)) return {};
  const Node& node = program.graph.node(id);
  const OpDef& def = ops.at(node.op);
  const auto types = program.graph.input_types(id);
  const OpContext op{node.attrs, types, node.type};
  const Work work = work_of(def, op, iteration);
  const Products& p = work.products;
  const double vector_flops = std::max(0.0, work.flops - 2 * p.count * p.rows * p.inner * p.columns);
  return {.matrix_s = matrix_seconds(device, with_padding(device, def, p, iteration)),
          .vector_s = vector_flops / device.vector_flops_s,
          .memory_s = memory_bytes(device, program, fusions, def, op, id, iteration) / device.memory_bytes_s,
          .overhead_s = device.dispatch_s};
}

}  // namespace voxshard
