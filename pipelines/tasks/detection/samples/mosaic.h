// Mosaics: a sample of the parts of four images, which meet at a random point, so that a step shows objects of four
// images and parts of them that a border cuts. A pure function of the seed and the sample.
//
//   for (const MosaicTile& tile : sample_tiles({.probability = 0.5, .seed = 1, .images = 300}, 17, 4, {256, 256})) ...
//
// Called by DetectionSource. Source: YOLOv4 (Bochkovskiy, Wang, Liao 2020) has the mosaic; as in its program the four
// parts keep their scale and meet at least a fifth of a side away from the border. YOLOX (Ge et al. 2021) also scales
// and rotates the mosaic as a whole; here each part is augmented on its own.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "libcore/tensor/shape.h"

namespace voxshard {

struct MosaicOptions {
  double probability = 0;
  std::uint64_t seed = 0;
  std::size_t images = 1;  // of the data set, from which the other three are drawn
};

/// A rectangle of a sample, and the image of which it shows a part.
struct MosaicTile {
  std::size_t image = 0;
  std::array<std::int64_t, 2> begin{};  // y x
  Dims extent;                          // H W
};

/// Returns the tiles of a sample of `image` on a canvas (H, W): one, or four of a mosaic, the image's own first. A
/// canvas with a side below 2 has no mosaic.
std::vector<MosaicTile> sample_tiles(const MosaicOptions& options, std::int64_t sample, std::size_t image,
                                     const Dims& canvas);

}  // namespace voxshard
