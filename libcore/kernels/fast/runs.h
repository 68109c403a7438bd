// The loops of the vectorised kernels: runs of memory that are contiguous in every view, and f32 <-> bf16 by run.
//
// A dense (N, D, H, W, C) view is one run; the interior of a margin buffer is one run of W * C per row. Arithmetic per
// element is the same wherever a run begins or ends, so results do not depend on how a tensor is cut.
#pragma once

#include <array>

#include "libcore/tensor/rows.h"

namespace voxshard::fast {

inline bool is_fast(const TensorView& view) { return view.dtype == DType::kF32 || view.dtype == DType::kBF16; }

/// Calls body(offsets, count) for the runs of `box`; offsets are in elements, one per view. Runs are whole rows.
template <std::size_t K, class Body>
void for_each_run(const Box& box, const std::array<const TensorView*, K>& views, Body body) {
  if (box.empty()) return;
  std::array<std::int64_t, K> offsets;
  for (std::size_t k = 0; k < K; ++k) offsets[k] = offset_at(*views[k], box.begin);
  if (box.axes() == 0) return body(offsets, std::int64_t{1});
  int axis = box.axes() - 1;  // axes from here on are one run
  std::int64_t count = box.extent[axis];
  for (; axis > 0; --axis) {
    bool joins = box.extent[axis - 1] == 1;
    if (!joins) {
      joins = true;
      for (const TensorView* view : views) joins = joins && view->strides[axis - 1] == count;
    }
    if (!joins) break;
    count *= box.extent[axis - 1];
  }
  Dims at = Dims::filled(box.axes(), 0);
  while (true) {
    body(static_cast<const std::array<std::int64_t, K>&>(offsets), count);
    int a = axis - 1;
    for (; a >= 0; --a) {
      const bool more = ++at[a] < box.extent[a];
      for (std::size_t k = 0; k < K; ++k) offsets[k] += (more ? 1 : 1 - box.extent[a]) * views[k]->strides[a];
      if (more) break;
      at[a] = 0;
    }
    if (a < 0) return;
  }
}

inline float to_f32(float value) { return value; }
inline float to_f32(BF16 value) { return static_cast<float>(value); }
inline void round_to(float value, float& to) { to = value; }
/// Round to nearest even without a branch, so that loops vectorise; the same bits as BF16(value).
inline void round_to(float value, BF16& to) {
  const std::uint32_t word = std::bit_cast<std::uint32_t>(value);
  const std::uint32_t rounded = (word + 0x7fffU + ((word >> 16) & 1U)) >> 16;
  const std::uint32_t quiet = (word >> 16) | 0x40U;
  to.bits = static_cast<std::uint16_t>((word & 0x7fffffffU) > 0x7f800000U ? quiet : rounded);
}

/// Calls body(static_cast<T*>(nullptr)) with T the element type of a fast view.
template <class Body>
void with_type(DType type, Body body) {
  if (type == DType::kBF16) {
    body(static_cast<BF16*>(nullptr));
  } else {
    body(static_cast<float*>(nullptr));
  }
}

}  // namespace voxshard::fast
