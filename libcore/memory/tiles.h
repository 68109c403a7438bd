// The size of a tensor in a TPU's memory, where one axis is padded to a multiple of 8 and another to one of 128. The
// compiler chooses the two axes; here the best pair is assumed, tensor by tensor.
//
//   tiled_elements({4, 128, 128, 128, 32})   // nothing is padded: W in the lanes, C in the sublanes
//   tiled_elements({1, 5, 3})                // 8 x 128: 68 times what it holds
//
// Source: Cloud TPU performance guide; layouts print as {3,2,1,0:T(8,128)}.
#pragma once

#include "libcore/tensor/dtype.h"
#include "libcore/tensor/shape.h"

namespace voxshard {

inline constexpr std::int64_t kTileLanes = 128, kTileSublanes = 8;

/// Elements of a box of `extent` with padding; 0 when it is empty. A single axis lies in the lanes, padded to 128.
double tiled_elements(const Dims& extent);

/// A TPU has no f64: sums that are f64 here are f32 there.
constexpr std::int64_t device_bytes(DType type) { return type == DType::kF64 ? 4 : dtype_bytes(type); }

}  // namespace voxshard
