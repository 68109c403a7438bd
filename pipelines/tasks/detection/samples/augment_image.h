// Changes a training image and its boxes: mirroring, scale and colours. Rotation is that of the part that becomes a
// sample (detection_source.h), so that what lies around the part is turned into it.
//
//   auto a = augment_image({pixels, image.boxes}, {.scale = {0.8, 1.25}}, {.seed = 1, .image = 17, .epoch = 3});
//   PixelBox box = rotated_box({10, 10, 30, 20}, part, 15);
//
// Called by DetectionSource before the crop. Images keep their size unless `scale` or `output_size` changes it.
#pragma once

#include <vector>

#include "io/boxes/detection_annotations.h"
#include "libcore/tensor/tensor.h"
#include "pipelines/tasks/augmentation/image_augmentation.h"

namespace voxshard {

struct AugmentedImage {
  Tensor pixels;  // (H, W, 3) f32, 0 to 1, red first
  std::vector<TrueBox> boxes;
  double degrees = 0;  // by which the part that becomes a sample is to be rotated
};

/// Augments an image. Colours are clipped to 0 to 1. A scaled side is rounded to whole pixels, at least 1; boxes follow
/// the rounded size.
///   output_size  H W that the image is scaled to fit into at scale 1, long side first; empty: none
/// Errors: kInternal for an image of another shape or type, or a scale that is not positive.
AugmentedImage augment_image(AugmentedImage image, const ImageAugmentation& options, const AugmentationKey& key,
                             const Dims& output_size = {});

/// Returns the box, in pixels of a sample that shows a rotated part of an image, of a box in the image: the hull of its
/// four corners, as YOLOv5 and YOLOX do. An object that does not fill its corners lies in a smaller one.
PixelBox rotated_box(const PixelBox& in_image, const ImagePart& part, double degrees);

}  // namespace voxshard
