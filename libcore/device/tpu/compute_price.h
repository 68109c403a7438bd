// What one compute instruction costs one core of a TPU, uncut or behind the passes of a cut (halo_passes.h).
//
//   matrix unit   rows x inner times inner x columns per kernel tap; inner and columns padded to the 128 x 128 tile,
//                 rows to 8; one row of a tile per tick and unit. A tile takes 128 ticks to load, which nothing hides,
//                 and serves strip_rows rows at a time: as many sums as are held at once; how many is fitted, no data
//                 sheet gives it. Either operand may be the one in the tiles, the cheaper one is. bf16 whatever the
//                 graph's type.
//   vector unit   the flops that are no products
//   memory        each input box that is read, inside the tensor, and the result box, once, in the layout of products
//                 (product_layout.h); what is fused (fusion.h) is read as what it is made from. A TPU's convolution
//                 makes the zeros around the tensor itself
#pragma once

#include "libcore/device/device.h"
#include "libcore/device/tpu/fusion.h"

namespace voxshard {

/// Seconds for `iteration` of value `id`: a box of its result, or of the driver of a contraction. Nothing for an empty
/// box.
Price compute_price(const TpuSpec& device, const Program& program, const OpTable& ops, const Fusions& fusions,
                    ValueId id, const Box& iteration);

/// Seconds of the matrix unit for products of these sizes.
///   example: 1000 rows in strips of 512 through one tile: 1000 + 2 x 128 ticks
double matrix_seconds(const TpuSpec& device, const Products& products);

}  // namespace voxshard
