// The labels of one prepared volume, whole, by a session in its prediction phase.
#pragma once

#include "libcore/runtime/session.h"

namespace voxshard {

/// The extents that a volume of (D, H, W) is predicted at: rounded up to multiples of `multiple`, batch 1.
Shape prediction_extents(const Shape& volume, std::int64_t multiple);

/// The class of the largest logit per voxel; ties go to the lower class.
///   image    (D, H, W) f32, normalised; `air` is put around it where the extents are larger
///   returns  (D, H, W) i32
Tensor predict_volume(Session& session, const Tensor& image, float air, std::int64_t multiple);

}  // namespace voxshard
