#include "libcore/metrics/surface/surface_convention.h"

#include "libcore/metrics/surface/surfel_areas.h"

namespace voxshard {
namespace {

SurfaceElements border_voxels(const Mask& mask, const GridSpacing&) {
  SurfaceElements elements{.codes = empty_mask(mask.size)};
  elements.weights[1] = 1;
  std::size_t i = 0;
  for (std::int64_t d = 0; d < mask.size[0]; ++d)
    for (std::int64_t h = 0; h < mask.size[1]; ++h)
      for (std::int64_t w = 0; w < mask.size[2]; ++w, ++i) {
        if (!mask.at[i]) continue;
        const bool within = mask.value(d - 1, h, w) && mask.value(d + 1, h, w) && mask.value(d, h - 1, w) &&
                            mask.value(d, h + 1, w) && mask.value(d, h, w - 1) && mask.value(d, h, w + 1);
        elements.codes.at[i] = within ? 0 : 1;
      }
  return elements;
}

SurfaceElements surfels(const Mask& mask, const GridSpacing& spacing_mm) {
  const GridSize size = {mask.size[0] + 1, mask.size[1] + 1, mask.size[2] + 1};
  SurfaceElements elements{.codes = empty_mask(size), .weights = surfel_areas(spacing_mm)};
  std::size_t i = 0;
  for (std::int64_t d = 0; d < size[0]; ++d)
    for (std::int64_t h = 0; h < size[1]; ++h)
      for (std::int64_t w = 0; w < size[2]; ++w, ++i) {
        unsigned code = 0;
        for (unsigned c = 0; c < 8; ++c)  // the voxel (1, 1, 1) of the eight, bit 0, has the corner's own index
          code = code << 1U | mask.value(d - 1 + (c >> 2U), h - 1 + (c >> 1U & 1U), w - 1 + (c & 1U));
        elements.codes.at[i] = static_cast<std::uint8_t>(code == 255 ? 0 : code);
      }
  return elements;
}

}  // namespace

const std::vector<SurfaceConvention>& surface_conventions() {
  static const std::vector<SurfaceConvention> kConventions = {
      {.name = "voxels",
       .rule = "border voxels (the mask without its 6-connected erosion), each counts 1; percentiles interpolate",
       .elements = border_voxels,
       .interpolates = true},
      {.name = "surfels",
       .rule = "surface elements at the corners of the voxels, weighted by their area; percentiles by area",
       .elements = surfels,
       .interpolates = false}};
  return kConventions;
}

const SurfaceConvention* find_convention(const std::string& name) {
  for (const SurfaceConvention& row : surface_conventions())
    if (name == row.name) return &row;
  return nullptr;
}

}  // namespace voxshard
