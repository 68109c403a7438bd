#include "pipelines/tasks/augmentation/warp.h"

#include <algorithm>

#include "libcore/kernels/interpolation.h"

namespace voxshard {

template <class T>
Tensor read_padded(const MappedVolume& volume, const Box& box, T outside) {
  Tensor values(std::is_same_v<T, float> ? DType::kF32 : DType::kI32, box.extent);
  TensorView view = values.view();
  view.box = box;
  const Box inside = intersect(box, Box::whole(volume.shape()));
  if (inside != box) std::fill_n(values.as<T>(), values.count(), outside);
  if (!inside.empty()) volume.read_box(inside, view.sub(inside));
  return values;
}
template Tensor read_padded(const MappedVolume& volume, const Box& box, float outside);
template Tensor read_padded(const MappedVolume& volume, const Box& box, std::int32_t outside);

Tensor interpolate(const Tensor& values, const Box& held, const SpatialMap& map, const Box& box) {
  ensure(held.contains(map.sources(box)), "interpolation reads what is held");
  Tensor result(DType::kF32, box.extent);
  interpolation_kernels(KernelSet::kFast).linear({values.as<float>(), held}, map, box, result.as<float>());
  return result;
}

Tensor warp_image(const MappedVolume& volume, const SpatialMap& map, const Box& box, float outside) {
  const Box held = map.sources(box);
  return interpolate(read_padded(volume, held, outside), held, map, box);
}

Tensor warp_labels(const MappedVolume& volume, const SpatialMap& map, const Box& box, std::int32_t outside) {
  const Box held = map.sources(box);
  const Tensor values = read_padded(volume, held, outside);
  Tensor result(DType::kI32, box.extent);
  interpolation_kernels(KernelSet::kFast)
      .heaviest({values.as<std::int32_t>(), held}, map, box, result.as<std::int32_t>());
  return result;
}

}  // namespace voxshard
