// Label maps with one byte a voxel, a quarter of i32: what waits beside an image that is prepared takes little memory.
//
//   if (fit_bytes(classes, ignored)) label.voxels = labels_as_bytes(std::move(label.voxels));
//   with_labels(label.voxels, [&](const auto* labels) { ... });
#pragma once

#include <cstdint>
#include <optional>

#include "libcore/tensor/tensor.h"

namespace voxshard {

/// True when the classes 0 to classes - 1 and the ignored label fit in a byte.
bool fit_bytes(int classes, std::optional<int> ignored);

/// Returns the same labels as u8, which they must fit, or as i32; those that have the type already are moved. Memory:
/// pages of the source are released as it is read, so that both together take the larger of the two.
Tensor labels_as_bytes(Tensor labels);
Tensor labels_as_i32(Tensor labels);

/// Calls `f` with the labels as `const std::uint8_t*` or `const std::int32_t*`.
template <class F>
decltype(auto) with_labels(const Tensor& labels, F&& f) {
  if (labels.dtype() == DType::kU8) return f(static_cast<const std::uint8_t*>(labels.as<std::uint8_t>()));
  ensure(labels.dtype() == DType::kI32, "labels are u8 or i32");
  return f(static_cast<const std::int32_t*>(labels.as<std::int32_t>()));
}

/// Calls f(label, begin, end) for each run of equal labels in a row of n, front to back.
template <class Label, class F>
void for_each_run(const Label* row, std::int64_t n, F&& f) {
  for (std::int64_t begin = 0, end; begin < n; begin = end) {
    const Label label = row[begin];
    for (end = begin + 1; end < n && row[end] == label;) ++end;
    f(label, begin, end);
  }
}

}  // namespace voxshard
