#include "pipelines/phantoms/sized_phantoms.h"

#include <algorithm>

#include "pipelines/phantoms/detection_phantom.h"
#include "pipelines/phantoms/phantom.h"

namespace voxshard {
namespace {

/// Returns the index of `from` voxels that lies nearest to the centre of voxel `i` of `to`.
///   example: of 3 voxels in place of 6, the middle one (i = 1) shows voxel 3
std::int64_t nearest_index(std::int64_t i, std::int64_t to, std::int64_t from) { return (2 * i + 1) * from / (2 * to); }

}  // namespace

Volume phantom_of_size(int index, const std::array<std::int64_t, 3>& size, const std::array<double, 3>& spacing_mm) {
  const Phantom phantom = make_phantom({.index = index});
  const std::array<std::int64_t, 3>& from = phantom.image.geometry.size;
  Volume volume{.geometry = {.size = size, .spacing = spacing_mm}, .voxels = {}};
  volume.voxels = Tensor(DType::kF32, volume.geometry.shape());
  const auto* hu = phantom.image.voxels.as<float>();
  auto* out = volume.voxels.as<float>();
  for (std::int64_t z = 0; z < size[2]; ++z)
    for (std::int64_t y = 0; y < size[1]; ++y) {
      const std::int64_t row =
          (nearest_index(z, size[2], from[2]) * from[1] + nearest_index(y, size[1], from[1])) * from[0];
      for (std::int64_t x = 0; x < size[0]; ++x) *out++ = hu[row + nearest_index(x, size[0], from[0])];
    }
  return volume;
}

Tensor picture_of_size(std::int64_t height, std::int64_t width) {
  const Tensor pixels = make_detection_phantom({}).pixels;
  const std::int64_t rows = pixels.shape()[0], columns = pixels.shape()[1];
  Tensor picture(DType::kU8, {height, width, 3});
  auto* out = picture.as<std::uint8_t>();
  for (std::int64_t y = 0; y < height; ++y)
    for (std::int64_t x = 0; x < width; ++x, out += 3)
      std::copy_n(
          pixels.as<std::uint8_t>() + 3 * (nearest_index(y, height, rows) * columns + nearest_index(x, width, columns)),
          3, out);
  return picture;
}

}  // namespace voxshard
