// Random augmentation of a training image and its boxes: mirroring left to right, scale, brightness, contrast and
// saturation. A pure function of (seed, image, epoch), so that a resumed run sees the same images.
//
//   auto a = augment_image({pixels, image.boxes}, {.scale = {0.8, 1.25}}, {.seed = 1, .image = 17, .epoch = 3});
//
// Called by DetectionSource before the crop. Images keep their size unless `scale` or `output_size` changes it.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "io/boxes/detection_annotations.h"
#include "libcore/tensor/tensor.h"

namespace voxshard {

struct ImageAugmentation {
  double mirror = 0.5;                // probability
  std::array<double, 2> scale{1, 1};  // factor of both sides (of both of `output_size`), log-uniform between the two
  Dims output_size = {};              // H W that every image is scaled to fit into, long side first; empty: none
  double brightness = 0;              // the largest shift of all channels; 1 is the range from black to white
  double contrast = 0;                // the largest relative change of the distance from the mean of the image
  double saturation = 0;              // the largest relative change of the distance from grey
};

/// Identifies an image in an epoch.
struct AugmentationKey {
  std::uint64_t seed = 0, image = 0, epoch = 0;
};

struct AugmentedImage {
  Tensor pixels;  // (H, W, 3) f32, 0 to 1, red first
  std::vector<TrueBox> boxes;
};

/// Augments an image. Colours are clipped to 0 to 1. A scaled side is rounded to whole pixels, at least 1; boxes follow
/// the rounded size. Errors: kInternal for an image of another shape or type, or a scale that is not positive.
AugmentedImage augment_image(AugmentedImage image, const ImageAugmentation& options, const AugmentationKey& key);

}  // namespace voxshard
