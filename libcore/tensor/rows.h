// Iteration over views row by row: a row is the run of channels at one voxel.
//
//   for_each_row(y.box, [&](const Dims& at) { load_row(x, offset_at(x, at), channels, buffer); ... });
//
// `at` holds global coordinates (its last entry is the first channel of the box), so it is valid for views with other
// boxes too.
#pragma once

#include <algorithm>

#include "libcore/tensor/tensor.h"

namespace voxshard {

/// The offset in elements of the global coordinate `at` from view.data.
inline std::int64_t offset_at(const TensorView& view, const Dims& at) {
  std::int64_t offset = 0;
  for (int a = 0; a < view.axes(); ++a) offset += (at[a] - view.box.begin[a]) * view.strides[a];
  return offset;
}

/// Calls body(at) for each row of `box` in row-major order; a box without axes is one row of one element.
template <class Body>
void for_each_row(const Box& box, Body body) {
  if (box.empty()) return;
  Dims at = box.begin;
  while (true) {
    body(static_cast<const Dims&>(at));
    int a = box.axes() - 2;
    for (; a >= 0; --a) {
      if (++at[a] < box.end(a)) break;
      at[a] = box.begin[a];
    }
    if (a < 0) return;
  }
}

/// The number of elements in a row of `box`.
inline std::int64_t row_count(const Box& box) { return box.axes() == 0 ? 1 : box.extent.back(); }

/// Reads `count` elements from `offset` as doubles.
inline void load_row(const TensorView& view, std::int64_t offset, std::int64_t count, double* to) {
  if (view.dtype == DType::kF64) {
    const double* from = view.as<double>() + offset;
    for (std::int64_t i = 0; i < count; ++i) to[i] = from[i];
  } else if (view.dtype == DType::kF32) {
    const float* from = view.as<float>() + offset;
    for (std::int64_t i = 0; i < count; ++i) to[i] = from[i];
  } else if (view.dtype == DType::kBF16) {
    const BF16* from = view.as<BF16>() + offset;
    for (std::int64_t i = 0; i < count; ++i) to[i] = static_cast<float>(from[i]);
  } else {
    for (std::int64_t i = 0; i < count; ++i) to[i] = load(view, offset + i);
  }
}

/// Writes `count` doubles at `offset`, rounded to the view's type.
inline void store_row(const TensorView& view, std::int64_t offset, std::int64_t count, const double* from) {
  if (view.dtype == DType::kF64)
    std::copy_n(from, count, view.as<double>() + offset);
  else
    for (std::int64_t i = 0; i < count; ++i) store(view, offset + i, from[i]);
}

/// `box` (N, D, H, W) restricted to sample n along axis 0.
inline Box sample_of(Box box, std::int64_t n) {
  box.set(0, std::max(n, box.begin[0]), std::min(n + 1, box.end(0)));
  return box;
}

}  // namespace voxshard
