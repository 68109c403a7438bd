#include "pipelines/tasks/segmentation/labels/byte_labels.h"

#include <algorithm>

namespace voxshard {
namespace {

/// Returns the elements of `from` as another type.
template <class From, class To>
Tensor converted(Tensor from, DType type) {
  constexpr std::int64_t kPiece = std::int64_t{1} << 18;  // elements between two releases
  Tensor to = Tensor::unwritten(type, from.shape());
  const std::int64_t n = from.count();
  for (std::int64_t begin = 0; begin < n; begin += kPiece) {
    const std::int64_t end = std::min(begin + kPiece, n);
    std::transform(from.as<From>() + begin, from.as<From>() + end, to.as<To>() + begin,
                   [](From label) { return static_cast<To>(label); });
    from.release(begin * dtype_bytes(from.dtype()), end * dtype_bytes(from.dtype()));
  }
  return to;
}

}  // namespace

bool fit_bytes(int classes, std::optional<int> ignored) {
  return classes <= 256 && (!ignored || (*ignored >= 0 && *ignored <= 255));
}

Tensor labels_as_bytes(Tensor labels) {
  if (labels.dtype() == DType::kU8) return labels;
  return converted<std::int32_t, std::uint8_t>(std::move(labels), DType::kU8);
}

Tensor labels_as_i32(Tensor labels) {
  if (labels.dtype() == DType::kI32) return labels;
  return converted<std::uint8_t, std::int32_t>(std::move(labels), DType::kI32);
}

}  // namespace voxshard
