#include "pipelines/engine/label_slabs.h"

#include <algorithm>

#include "libcore/base/error.h"

namespace voxshard {
namespace {

constexpr std::int64_t kSlabBytes = 1 << 20;

/// Returns planes [first, end) of a map.
TensorView planes_of(const Tensor& labels, std::int64_t first, std::int64_t end) {
  Box box = Box::whole(labels.shape());
  box.set(0, first, end);
  return labels.view().sub(box);
}

}  // namespace

LabelSlabs LabelSlabs::of(const Tensor& labels, std::int64_t planes) {
  ensure(labels.dtype() == DType::kI32 && labels.shape().axes() == 3, "labels are i32 volumes");
  const std::int64_t depth = labels.shape()[0], plane_bytes = depth > 0 ? labels.bytes() / depth : 1;
  if (planes == 0) planes = std::max<std::int64_t>(1, kSlabBytes / std::max<std::int64_t>(1, plane_bytes));
  return {.for_each = [&labels, depth, planes](const auto& visit) {
    for (std::int64_t first = 0; first < depth; first += planes)
      visit(planes_of(labels, first, std::min(first + planes, depth)));
  }};
}

void rewrite_slabs(const LabelSlabs& slabs, const std::vector<SlabStep*>& steps) {
  for (std::size_t k = 0; k <= steps.size() && !steps.empty(); ++k) {
    SlabStep* const before = k > 0 ? steps[k - 1] : nullptr;
    SlabStep* const next = k < steps.size() ? steps[k] : nullptr;
    slabs.for_each([&](const TensorView& slab) {
      if (before != nullptr) before->rewrite(slab);
      if (next != nullptr) next->see(slab);
    });
    if (next != nullptr) next->seen();
  }
}

}  // namespace voxshard
