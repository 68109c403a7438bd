#include "libcore/metrics/surface/mask.h"

#include <algorithm>

namespace voxshard {
namespace {

struct Bounds {
  GridSize low, high;
  bool any = false;

  void add(const GridSize& at) {
    if (!any) low = high = at, any = true;
    for (std::size_t a = 0; a < 3; ++a) low[a] = std::min(low[a], at[a]), high[a] = std::max(high[a], at[a]);
  }
  Box box() const {
    if (!any) return Box::none(3);
    return {{low[0], low[1], low[2]}, {high[0] - low[0] + 1, high[1] - low[1] + 1, high[2] - low[2] + 1}};
  }
};

void require_labels(const TensorView& v) {
  ensure(v.axes() == 3 && v.is_dense() && (v.dtype == DType::kI32 || v.dtype == DType::kU8),
         "a label map is (D, H, W) of i32 or u8, dense");
}

std::int64_t label_at(const TensorView& v, std::int64_t offset) {
  return v.dtype == DType::kI32 ? v.as<std::int32_t>()[offset] : v.as<std::uint8_t>()[offset];
}

}  // namespace

std::uint8_t Mask::value(std::int64_t d, std::int64_t h, std::int64_t w) const {
  const bool inside = d >= 0 && d < size[0] && h >= 0 && h < size[1] && w >= 0 && w < size[2];
  return inside ? at[index(d, h, w)] : std::uint8_t{0};
}

bool Mask::empty() const {
  return std::none_of(at.begin(), at.end(), [](std::uint8_t v) { return v != 0; });
}

Mask empty_mask(const GridSize& size) {
  return {.size = size, .at = std::vector<std::uint8_t>(static_cast<std::size_t>(size[0] * size[1] * size[2]))};
}

std::vector<Box> class_boxes(const TensorView& prediction, const TensorView& reference, int classes,
                             std::int64_t ignored) {
  require_labels(prediction), require_labels(reference);
  const Dims& e = reference.extent();
  ensure(prediction.extent() == e, "the label maps have equal extents");
  std::vector<Bounds> bounds(static_cast<std::size_t>(classes));
  std::int64_t i = 0;
  for (std::int64_t d = 0; d < e[0]; ++d)
    for (std::int64_t h = 0; h < e[1]; ++h)
      for (std::int64_t w = 0; w < e[2]; ++w, ++i) {
        const std::int64_t mine = label_at(prediction, i), truth = label_at(reference, i);
        if (ignored >= 0 && truth == ignored) continue;
        for (const std::int64_t label : {mine, truth})
          if (label >= 0 && label < classes) bounds[label].add({d, h, w});
      }
  std::vector<Box> boxes;
  for (const Bounds& one : bounds) boxes.push_back(one.box());
  return boxes;
}

Box box_around(const std::vector<Box>& boxes) {
  Bounds bounds;
  for (const Box& box : boxes) {
    if (box.empty()) continue;
    const Dims &from = box.begin, &extent = box.extent;
    bounds.add({from[0], from[1], from[2]});
    bounds.add({from[0] + extent[0] - 1, from[1] + extent[1] - 1, from[2] + extent[2] - 1});
  }
  return bounds.box();
}

Mask class_mask(const TensorView& labels, const Box& box, const LabelSet& of, const TensorView& reference,
                std::int64_t ignored) {
  require_labels(labels), require_labels(reference);
  const Dims &e = reference.extent(), &from = box.begin;
  Mask mask = empty_mask({box.extent[0], box.extent[1], box.extent[2]});
  std::size_t to = 0;
  for (std::int64_t d = 0; d < mask.size[0]; ++d)
    for (std::int64_t h = 0; h < mask.size[1]; ++h) {
      const std::int64_t row = ((from[0] + d) * e[1] + from[1] + h) * e[2] + from[2];
      for (std::int64_t i = row; i < row + mask.size[2]; ++i, ++to)
        mask.at[to] = of.contains(label_at(labels, i)) && (ignored < 0 || label_at(reference, i) != ignored);
    }
  return mask;
}

}  // namespace voxshard
