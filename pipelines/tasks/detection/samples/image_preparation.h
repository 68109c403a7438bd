// The preparation of an image for the network, the same in training and prediction; a part of each checkpoint.
//
//   Tensor pixels = normalised(read_rgb("cells.png", {.dtype = DType::kF32}), preparation);    // (H, W, 3) f32
//   place_sample(pixels, 0, box);         // a core's box of (N, H, W, 3), zeros beyond the image
//
// Source of the constants and of the padding at the bottom and right after normalising: tensorflow/tpu,
// models/official/detection/utils/input_utils.py.
#pragma once

#include <array>
#include <nlohmann/json_fwd.hpp>

#include "io/boxes/detection_annotations.h"
#include "libcore/tensor/tensor.h"

namespace voxshard {

struct ImagePreparation {
  std::vector<DetectionClass> classes;
  std::array<double, 3> mean = {0.485, 0.456, 0.406};  // of ImageNet, red first; 1 is the brightest
  std::array<double, 3> deviation = {0.229, 0.224, 0.225};
  std::int64_t pad_multiple = 32;  // whole images: extents are rounded up to it, so that plans are reused
  Dims output_size = {};  // H W; images are scaled to fit into it and padded to it; empty: they keep their size
};

/// An image fitted into an output of given extents, as by resize_and_crop_image of the source above: both sides are
/// scaled by one factor, the largest at which it fits, then rounded to whole pixels; it lies at the top left.
///   example  375 x 500 in 640 x 640: factor 1.28, 480 x 640, below it 160 rows of zeros
struct Fit {
  Dims size;                  // H W of the scaled image
  double by_y = 1, by_x = 1;  // factors for box coordinates
};
Fit fit_into(const Dims& image, const Dims& output);

nlohmann::ordered_json to_json(const ImagePreparation& preparation);
/// Parses a preparation. Errors: kCheckpoint names the missing or wrong entry.
ImagePreparation image_preparation_from_json(const nlohmann::json& json);

/// Returns (value - mean) / deviation, channel by channel.
///   rgb  (H, W, 3) f32, 0 to 1
Tensor normalised(Tensor rgb, const ImagePreparation& preparation);

/// Returns (H, W) rounded up to a multiple.
Dims padded_size(const Dims& size, std::int64_t multiple);

}  // namespace voxshard
