#include "pipelines/tasks/segmentation/nnunet/nonzero_crop.h"

#include <algorithm>
#include <cstring>

namespace voxshard {
namespace {

/// Calls body(first voxel of a row, first voxel of its place in the box, bytes) for each row of a box.
template <class Body>
void for_each_row(const Shape& whole, const Box& box, std::int64_t voxel_bytes, Body body) {
  std::int64_t inside = 0;
  for (std::int64_t d = box.begin[0]; d < box.end(0); ++d)
    for (std::int64_t h = box.begin[1]; h < box.end(1); ++h, inside += box.extent[2] * voxel_bytes)
      body(((d * whole[1] + h) * whole[2] + box.begin[2]) * voxel_bytes, inside,
           static_cast<std::size_t>(box.extent[2] * voxel_bytes));
}

std::int64_t bytes_of_voxel(const Tensor& voxels) { return dtype_bytes(voxels.dtype()); }

/// Returns the smallest box that holds all values other than 0; the whole shape when there is none.
template <class T>
Box box_of_nonzero(const T* x, const Shape& shape) {
  Box box = Box::none(3);
  for (std::int64_t d = 0; d < shape[0]; ++d)
    for (std::int64_t h = 0; h < shape[1]; ++h, x += shape[2]) {
      const auto* first = std::find_if(x, x + shape[2], [](T v) { return v != 0; });
      if (first == x + shape[2]) continue;
      const auto* last = x + shape[2] - 1;
      while (*last == 0) --last;
      Box row = Box::none(3);
      row.set(0, d, d + 1), row.set(1, h, h + 1), row.set(2, first - x, last - x + 1);
      box = hull(box, row);
    }
  return box.empty() ? Box::whole(shape) : box;
}

/// Returns the mask of values other than 0 with its holes filled.
template <class T>
std::vector<char> filled_mask(const T* x, const Shape& shape) {
  const std::int64_t n = shape[0] * shape[1] * shape[2], plane = shape[1] * shape[2], width = shape[2];
  std::vector<char> mask(static_cast<std::size_t>(n), 1);  // until a path of zeros from outside reaches a voxel
  bool changed = true;
  const auto visit = [&](std::int64_t i) {
    char& inside = mask[i];
    if (inside == 0 || x[i] != 0) return;
    const std::int64_t d = i / plane, h = i / width % shape[1], w = i % width;
    const auto is_out = [&](bool edge, std::int64_t other) { return edge || mask[other] == 0; };
    if (is_out(d == 0, i - plane) || is_out(d == shape[0] - 1, i + plane) || is_out(h == 0, i - width) ||
        is_out(h == shape[1] - 1, i + width) || is_out(w == 0, i - 1) || is_out(w == width - 1, i + 1))
      inside = 0, changed = true;
  };
  while (changed) {  // there and back through the volume until nothing changes
    changed = false;
    for (std::int64_t i = 0; i < n; ++i) visit(i);
    for (std::int64_t i = n - 1; i >= 0; --i) visit(i);
  }
  return mask;
}

}  // namespace

Box nonzero_box(const Tensor& image) { return box_of_nonzero(image.as<float>(), image.shape()); }

std::vector<char> nonzero_mask(const Tensor& image) { return filled_mask(image.as<float>(), image.shape()); }

void NonzeroVoxels::add(const Tensor& image) {
  const auto n = static_cast<std::size_t>(image.count());
  if (any_.empty()) shape_ = image.shape(), any_.assign(n, 0);
  ensure(any_.size() == n, "channels have one shape");
  for (std::size_t i = 0; i < n; ++i)
    if (image.as<float>()[i] != 0) any_[i] = 1;
}

Box NonzeroVoxels::box() const { return box_of_nonzero(any_.data(), shape_); }

std::vector<char> NonzeroVoxels::mask() const {
  const Box part = box();
  std::vector<char> inside(static_cast<std::size_t>(part.count()));
  for_each_row(shape_, part, 1, [&](std::int64_t from, std::int64_t to, std::size_t bytes) {
    std::memcpy(inside.data() + to, any_.data() + from, bytes);
  });
  return filled_mask(inside.data(), part.extent);
}

Geometry cropped_geometry(const Geometry& whole, const Box& box) {
  Geometry part = whole;
  part.origin = whole.world(
      {static_cast<double>(box.begin[2]), static_cast<double>(box.begin[1]), static_cast<double>(box.begin[0])});
  part.size = {box.extent[2], box.extent[1], box.extent[0]};
  return part;
}

Volume cropped(Volume volume, const Box& box) {
  const Shape whole = volume.voxels.shape();
  if (box == Box::whole(whole)) return volume;
  Volume part{cropped_geometry(volume.geometry, box), Tensor(volume.voxels.dtype(), box.extent)};
  for_each_row(whole, box, bytes_of_voxel(volume.voxels), [&](std::int64_t from, std::int64_t to, std::size_t bytes) {
    std::memcpy(part.voxels.data() + to, volume.voxels.data() + from, bytes);
  });
  return part;
}

Volume placed_back(Volume label, const Box& box, const Geometry& whole) {
  if (box == Box::whole(whole.shape())) return {whole, std::move(label.voxels)};
  Volume placed{whole, Tensor(DType::kI32, whole.shape())};
  std::fill_n(placed.voxels.as<std::int32_t>(), placed.voxels.count(), 0);
  for_each_row(whole.shape(), box, bytes_of_voxel(label.voxels),
               [&](std::int64_t to, std::int64_t from, std::size_t bytes) {
                 std::memcpy(placed.voxels.data() + to, label.voxels.data() + from, bytes);
               });
  return placed;
}

}  // namespace voxshard
