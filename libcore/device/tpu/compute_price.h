// The cost of one compute instruction on one core of a TPU, uncut or after the passes of a cut (halo_passes.h).
//
//   matrix unit   rows x inner times inner x columns per kernel tap; inner and columns padded to the 128 x 128 tile,
//                 rows to 8; one row of a tile per tick and unit. Loading a tile takes 128 ticks, which overlap with
//                 nothing, and serves strip_rows rows: the number of sums held at once, which is fitted since no data
//                 sheet gives it. The operand whose tiles cost less is the one loaded. bf16 whatever the graph's type.
//   vector unit   all flops outside of products
//   memory        each input box that is read, as far as it lies inside the tensor, and the result box, once, in the
//   layout
//                 of products (product_layout.h); for a fused value (fusion.h) the inputs that it is computed from. A
//                 TPU's convolution makes the zeros around the tensor itself
#pragma once

#include "libcore/device/device.h"
#include "libcore/device/tpu/fusion.h"

namespace voxshard {

/// Returns the seconds for `iteration` of value `id`: a box of its result, or of the driver of a contraction. An empty
/// box costs nothing.
Price compute_price(const TpuSpec& device, const Program& program, const OpTable& ops, const Fusions& fusions,
                    ValueId id, const Box& iteration);

/// Seconds of the matrix unit for products of these sizes.
///   example: 1000 rows in strips of 512 through one tile: 1000 + 2 x 128 ticks
double matrix_seconds(const TpuSpec& device, const Products& products);

}  // namespace voxshard
