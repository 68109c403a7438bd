// What the hosts of the original system bring to the cores for a step, for prices on an emulated device.
//
//   U-Net      gzip records of an f32 image and an f32 one-hot label, which cross to the cores as they are
//   RetinaNet  JPEG files (decoding them is not modelled); bf16 pixels cross, and per anchor an i32 class and four f32
//              codes
//
//   Feed feed = original_feed(spec, {32, 128, 128, 128});      // 16 bytes a voxel with 1 channel and 3 classes
// Sources: tensorflow/tpu, models/official/unet3d/input_reader.py and models/official/detection/dataloader.
#pragma once

#include "libcore/device/step_price.h"
#include "pipelines/runs/model_spec.h"

namespace voxshard {

///   extents  N of the step over all replicas, and the spatial axes
Feed original_feed(const ModelSpec& spec, const Shape& extents);

}  // namespace voxshard
