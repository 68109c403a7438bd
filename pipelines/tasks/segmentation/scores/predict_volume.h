// Predicts the labels of one whole prepared volume with a session in its prediction phase, and the labels of each
// core's box.
//
//   Tensor labels = predict_volume(session, {.shape = shape, .read = read}, air, multiple);   // within coordinate()
#pragma once

#include <functional>

#include "pipelines/engine/core_runs.h"

namespace voxshard {

/// The source of the voxels of a volume.
struct VolumeVoxels {
  Shape shape;  // (D, H, W)
  /// Writes `box` (D, H, W), inside the volume, normalised. Threads: several at once.
  std::function<void(const TensorView& box)> read;
  std::function<void()> done = {};  // called after the last read(), before the network runs
};

/// Returns the voxels of a tensor, which must outlive the result.
///   image  (D, H, W) f32
VolumeVoxels voxels_of(const Tensor& image);

/// Returns the extents at which a volume of (D, H, W) is predicted: rounded up to multiples of `multiple`, batch 1.
Shape prediction_extents(const Shape& volume, std::int64_t multiple);

/// Writes the part of a volume that lies in `box` (N, D, H, W, C) of the image input; `air` around it.
void fill_image(const TensorView& box, const VolumeVoxels& volume, float air);

/// The labels of a core's box and its place in the volume: the class of the largest logit of each voxel; ties go to the
/// lower class.
struct LabelledBox {
  Box box;                  // (D, H, W); empty when the core holds no part of the volume
  DType type = DType::kU8;  // kI32 for more than 256 classes
  std::vector<std::byte> labels;
  TensorView view() { return dense_view(labels.data(), type, box); }
};
LabelledBox labels_of_core(const CoreSet& cores, std::size_t core, const Shape& shape);

/// Returns the work of every process for predict_volume().
CoreWork volume_work();

/// Predicts the labels of the whole volume. Only the calling process, the first process, reads the volume and holds all
/// labels; the other processes get the boxes of their cores.
///   returns  (D, H, W) i32
/// Errors: as run_cores().
Tensor predict_volume(Session& session, const VolumeVoxels& image, float air, std::int64_t multiple);

}  // namespace voxshard
