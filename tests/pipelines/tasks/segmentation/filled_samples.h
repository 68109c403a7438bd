// The whole input of a step, as one core would fill it.
#pragma once

#include "pipelines/tasks/segmentation/samples/sample_source.h"

namespace voxshard {

/// Returns the image, (N, D, H, W, 1) f32, or the labels, i32.
inline Tensor filled(const SampleSource& source, const std::vector<Sample>& batch, const InputInfo& input) {
  Shape shape = source.extents(batch);
  shape.push_back(1);
  Tensor whole(std::holds_alternative<input::Image>(input) ? DType::kF32 : DType::kI32, shape);
  source.fill(batch, input, whole.view());
  return whole;
}

}  // namespace voxshard
