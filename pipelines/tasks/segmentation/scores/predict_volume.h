// The labels of one prepared volume, whole, by a session in its prediction phase, and what each core says of its box.
//
//   Tensor labels = predict_volume(session, {.shape = shape, .read = read}, air, multiple);   // within coordinate()
#pragma once

#include <functional>

#include "pipelines/engine/core_runs.h"

namespace voxshard {

/// Where the voxels of a volume come from.
struct VolumeVoxels {
  Shape shape;  // (D, H, W)
  /// Writes `box` (D, H, W), inside of the volume, normalised. Threads: several at once.
  std::function<void(const TensorView& box)> read;
  std::function<void()> done = {};  // read() is not called again, and the network has not run yet
};

/// The voxels of a tensor that outlives it.
///   image  (D, H, W) f32
VolumeVoxels voxels_of(const Tensor& image);

/// The extents that a volume of (D, H, W) is predicted at: rounded up to multiples of `multiple`, batch 1.
Shape prediction_extents(const Shape& volume, std::int64_t multiple);

/// Writes what `box` (N, D, H, W, C) of the image input holds of a volume; `air` around it.
void fill_image(const TensorView& box, const VolumeVoxels& volume, float air);

/// What core `core` says of its box: the class of the largest logit per voxel of a volume of `shape`; ties go to the
/// lower class. With its place in the volume.
struct LabelledBox {
  Box box;                  // (D, H, W); empty where the core has nothing of the volume
  DType type = DType::kU8;  // kI32 of more than 256 classes
  std::vector<std::byte> labels;
  TensorView view() { return dense_view(labels.data(), type, box); }
};
LabelledBox labels_of_core(const CoreSet& cores, std::size_t core, const Shape& shape);

/// What every process does for predict_volume().
CoreWork volume_work();

/// The labels of the whole volume. The process that calls it alone reads the volume and holds all labels; the others
/// get the boxes of their cores.
///   returns  (D, H, W) i32
/// Errors: as run_cores().
Tensor predict_volume(Session& session, const VolumeVoxels& image, float air, std::int64_t multiple);

}  // namespace voxshard
