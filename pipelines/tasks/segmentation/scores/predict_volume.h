// Predicts the labels of one whole prepared volume with a session in its prediction phase, and the labels of each
// core's box.
//
//   Tensor labels = predict_volume(session, {.shape = shape, .air = {-1}, .read = read}, multiple);   // in
//   coordinate()
#pragma once

#include <functional>

#include "pipelines/engine/core_runs.h"

namespace voxshard {

/// The source of the voxels of a volume.
struct VolumeVoxels {
  Shape shape;             // (D, H, W)
  std::vector<float> air;  // by channel: the normalised value around the volume
  /// Writes `box` (D, H, W) of a channel, inside the volume, normalised. Threads: several at once.
  std::function<void(std::size_t channel, const TensorView& box)> read;
  std::function<void()> done = {};  // called after the last read(), before the network runs
};

/// Returns the voxels of tensors, which must outlive the result.
///   channels  (D, H, W) f32 each, of one shape
///   air       by channel
VolumeVoxels voxels_of(const std::vector<Tensor>& channels, std::vector<float> air);

/// Returns the extents at which a volume of (D, H, W) is predicted: rounded up to multiples of `multiple`, batch 1.
Shape prediction_extents(const Shape& volume, std::int64_t multiple);

/// Returns the part (D, H, W) of a volume of `shape` that a core holds, from the box of its logits (N, D, H, W, C).
Box box_in_volume(const Box& logits, const Shape& shape);

/// Writes the part of a volume that lies in `box` (N, D, H, W, C) of the image input, and air around it. Requires as
/// many channels as the box has.
void fill_image(const TensorView& box, const VolumeVoxels& volume);

/// The labels of a core's box and its place in the volume: the class of the largest logit of each voxel; ties go to the
/// lower class.
struct LabelledBox {
  Box box;                  // (D, H, W); empty when the core holds no part of the volume
  DType type = DType::kU8;  // kI32 for more than 256 classes
  std::vector<std::byte> labels;
  TensorView view() { return dense_view(labels.data(), type, box); }
};
LabelledBox labels_of_core(const CoreSet& cores, std::size_t core, const Shape& shape);

/// Returns the same from the bytes of LabelledBox::labels, of a core of a program that predicts a volume of `shape`.
LabelledBox labels_from(const Program& program, std::size_t core, const Shape& shape, std::span<const std::byte> bytes);

/// Returns the work of every process for predict_volume().
CoreWork volume_work();

/// Predicts the labels of the whole volume. Only the calling process, the first process, reads the volume and holds all
/// labels; the other processes get the boxes of their cores.
///   returns  (D, H, W) i32
/// Errors: as run_cores().
Tensor predict_volume(Session& session, const VolumeVoxels& image, std::int64_t multiple);

}  // namespace voxshard
