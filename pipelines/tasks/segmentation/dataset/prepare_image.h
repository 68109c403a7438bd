// Prepares one image or label by a plan, and restores a label map to the input's grid. `prepare` and `predict` both
// call these functions, so that a model sees the same kind of data at prediction as in training.
//
//   PreparedImage x = prepare_image(ct, plan);
//   Volume labels = ...;                                    // the model's labels, on x.image.geometry
//   Volume out = restore_label(labels, ct.geometry, plan, x.crop);   // on the grid of the input file
#pragma once

#include <functional>
#include <optional>

#include "io/volume/volume.h"
#include "libcore/tensor/box.h"
#include "pipelines/tasks/segmentation/dataset/prepare_plan.h"
#include "pipelines/tasks/segmentation/nnunet/nonzero_crop.h"

namespace voxshard {

struct PreparedImage {
  Volume image;                    // f32, normalised, oriented, on the plan's spacing
  Geometry original;               // of the input
  double mean_hu = 0, std_hu = 1;  // mean that was subtracted, deviation that was divided by
  std::optional<Box> crop = {};    // (D, H, W) of the oriented input that was kept; none: all of it
};

/// Returns a volume with the axes of the plan.
Volume oriented(Volume volume, const PreparePlan& plan);

/// Returns what is not 0 in any channel of a case, for nnU-Net's convention and several channels; none otherwise: a
/// channel is then cropped by itself. Memory holds one channel beside a byte a voxel.
///   read  reads a channel, on the grid of the first
std::optional<NonzeroVoxels> nonzero_of_channels(const PreparePlan& plan,
                                                 const std::function<Volume(std::size_t channel)>& read);

/// Reorients, crops, clips, normalises, resamples, in this order. Our convention does not crop and resamples linearly;
/// nnU-Net's crops to the voxels other than 0 and resamples by cubic splines (nnunet_grid.h).
///   ct     f32 HU
///   label  on the same grid, or null: where plan.zscore_in_nonzero, labelled voxels count as nonzero, as in nnU-Net
///   nonzero  of the case, of several channels; null: of the image alone
/// Cost: `ct` and one copy of it while it is reoriented; then the copy and the result while it is resampled; nothing
/// when neither is needed and `ct` is moved in.   Threads: any number at once.
PreparedImage prepare_image(Volume ct, const PreparePlan& plan, const Volume* label = nullptr,
                            const NonzeroVoxels* nonzero = nullptr);

/// Reorients, crops and resamples a label map in the same way: by the nearest voxel, or by nnU-Net's linear masks. The
/// grid equals that of the prepared image.
///   crop  of the prepared image
Volume prepare_label(Volume label, const PreparePlan& plan, const std::optional<Box>& crop = std::nullopt);

/// Returns the grid that prepare_image gives, without any voxels: for memory estimates and plans. Without the crop,
/// which only the voxels tell, it is the largest that it may be.
Geometry prepared_geometry(const Geometry& original, const PreparePlan& plan,
                           const std::optional<Box>& crop = std::nullopt);

/// Maps a label map on the prepared grid back to the input's grid: by exact permutes and flips when the spacing was
/// kept, else by the nearest voxel, or by the largest linear mask (nnU-Net's convention); what was cropped away becomes
/// background. The result's geometry is `original` to the bit. Errors: kInternal when `label` is not on the prepared
/// grid of `original`.
Volume restore_label(Volume label, const Geometry& original, const PreparePlan& plan,
                     const std::optional<Box>& crop = std::nullopt);

}  // namespace voxshard
