#include "libcore/device/tpu/compute_price.h"

#include <algorithm>
#include <cmath>

#include "libcore/device/tpu/tpu_spec.h"
#include "libcore/memory/tiles.h"

namespace voxshard {
namespace {

constexpr double kRowsAtATime = 8;  // a product streams 8 x 128 registers through the unit

double padded(double n, double to) { return std::ceil(n / to) * to; }

double memory_bytes(const OpDef& def, const OpContext& op, const Box& iteration) {
  double bytes = 0;
  for (int i = 0; i < static_cast<int>(op.inputs.size()); ++i) {
    if (i == def.scalar) continue;
    const TensorType& input = op.inputs[static_cast<std::size_t>(i)];
    const Box read =
        intersect(needed_box(def, op, i, iteration), Box::whole(input.shape));  // zeros outside are not read
    if (!read.empty()) bytes += tiled_elements(read.extent) * static_cast<double>(device_bytes(input.dtype));
  }
  const Box written = def.driver < 0 ? iteration : result_box(def, op, iteration);
  return written.empty() ? bytes
                         : bytes + tiled_elements(written.extent) * static_cast<double>(device_bytes(op.result.dtype));
}

}  // namespace

double matrix_seconds(const TpuSpec& device, const Products& p) {
  if (p.count <= 0) return 0;
  const double tile = static_cast<double>(device.matrix_tile);
  const double ticks =
      p.count * padded(p.rows, kRowsAtATime) * (padded(p.inner, tile) / tile) * (padded(p.columns, tile) / tile);
  return ticks / (static_cast<double>(device.matrix_units) * device.clock_hz);
}

Price compute_price(const TpuSpec& device, const OpDef& def, const OpContext& op, const Box& iteration) {
  if (iteration.empty()) return {};
  const Work work = work_of(def, op, iteration);
  const Products& p = work.products;
  const double vector_flops = std::max(0.0, work.flops - 2 * p.count * p.rows * p.inner * p.columns);
  return {.matrix_s = matrix_seconds(device, p),
          .vector_s = vector_flops / device.vector_flops_s,
          .memory_s = memory_bytes(def, op, iteration) / device.memory_bytes_s,
          .overhead_s = device.dispatch_s};
}

}  // namespace voxshard
