// What one compute instruction costs one core of a TPU.
//
//   matrix unit   rows x inner times inner x columns per kernel tap; inner and columns padded to the 128 x 128 tile,
//   rows
//                 to 8; one row of a tile per tick and unit. bf16 whatever the graph's type.
//   vector unit   the flops that are no products
//   memory        each input box that is read, inside the tensor, and the result box, once, padded to 8 x 128 tiles
//                 (libcore/memory/tiles.h); a TPU's convolution makes the zeros around the tensor itself
#pragma once

#include "libcore/device/device.h"
#include "libcore/graph/op_def.h"

namespace voxshard {

/// Seconds for `iteration`: a box of the result, or of the driver of a contraction. Nothing for an empty box.
Price compute_price(const TpuSpec& device, const OpDef& def, const OpContext& op, const Box& iteration);

/// Seconds of the matrix unit for products of these sizes.
double matrix_seconds(const TpuSpec& device, const Products& products);

}  // namespace voxshard
