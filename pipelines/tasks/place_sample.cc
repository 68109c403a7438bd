#include "pipelines/tasks/place_sample.h"

#include <algorithm>

namespace voxshard {

void place_sample(const Tensor& pixels, std::int64_t sample, const TensorView& box) {
  const Dims& shape = pixels.shape();
  ensure(shape.axes() + 1 == box.axes(), "a sample has the axes of its batch but the first");
  Box whole{{sample}, {1}};
  for (const std::int64_t extent : shape) whole.begin.push_back(0), whole.extent.push_back(extent);
  const TensorView source = dense_view(pixels.data(), pixels.dtype(), whole);
  Box wanted = box.box;
  wanted.set(0, std::max(sample, box.box.begin[0]), std::min(sample + 1, box.box.end(0)));
  if (wanted.empty()) return;
  const Box inside = intersect(wanted, whole);
  if (inside != wanted) fill_zero(box.sub(wanted));
  if (!inside.empty()) copy(source.sub(inside), box.sub(inside));
}

}  // namespace voxshard
