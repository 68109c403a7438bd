// The class probabilities of a predicted volume as a file: NumPy's .npz with one f16 array "probabilities", (C, D, H,
// W) on the grid of the label map, as nnU-Net writes it in f32.
//
//   Volume numbers{prepared_grid, numbered_voxels(sums.shape())};
//   numbers = restore_label(std::move(numbers), original, plan, crop);      // as the labels, voxel by voxel
//   write_probabilities("case_1.npz", sums, 2, numbers.voxels);
#pragma once

#include <filesystem>

#include "libcore/runtime/spilled_floats.h"

namespace voxshard {

/// Numbers the voxels of a prepared volume from 1 on, so that the way of a label map to the grid of its file tells from
/// which voxel each voxel of the file is taken.
///   sums     (D, H, W, C), as of add_probabilities()
///   returns  (D, H, W) i32
/// Errors: kInput E_SIZE beyond 2^31 - 1 voxels.
Tensor numbered_voxels(const Shape& sums);

/// Writes the probabilities, whole or not at all, slice by slice.
///   sums     (D, H, W, C) of a prepared volume
///   times    models whose probabilities were added
///   numbers  (D, H, W) i32 on the grid of the file: the number of the prepared voxel that each voxel is taken from; 0:
///            none, a voxel that was cropped away and is background
/// Errors: kOutput.
void write_probabilities(const std::filesystem::path& path, const SpilledFloats& sums, std::int64_t times,
                         const Tensor& numbers);

}  // namespace voxshard
