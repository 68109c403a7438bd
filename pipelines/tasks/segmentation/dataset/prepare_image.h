// Prepares one image or label by a plan, and restores a label map to the input's grid. `prepare` and `predict` both
// call these functions, so that a model sees the same kind of data at prediction as in training.
//
//   PreparedImage x = prepare_image(ct, plan);
//   Volume labels = ...;                                    // the model's labels, on x.image.geometry
//   Volume out = restore_label(labels, ct.geometry);        // on the grid of the input file
#pragma once

#include "io/volume/volume.h"
#include "pipelines/tasks/segmentation/dataset/prepare_plan.h"

namespace voxshard {

struct PreparedImage {
  Volume image;                    // f32, normalised, oriented, on the plan's spacing
  Geometry original;               // of the input
  double mean_hu = 0, std_hu = 1;  // mean that was subtracted, deviation that was divided by
};

/// Reorients, clips, normalises, resamples (linear), in this order.
///   ct  f32 HU
/// Cost: `ct` and one copy of it while it is reoriented; then the copy and the result while it is resampled; nothing
/// when neither is needed and `ct` is moved in.   Threads: any number at once.
PreparedImage prepare_image(Volume ct, const PreparePlan& plan);

/// Reorients and resamples (nearest) a label map in the same way. The grid equals that of the prepared image.
Volume prepare_label(Volume label, const PreparePlan& plan);

/// Returns the grid that prepare_image gives, without any voxels: for memory estimates and plans.
Geometry prepared_geometry(const Geometry& original, const PreparePlan& plan);

/// Maps a label map on the prepared grid back to the input's grid: by exact permutes and flips when the spacing was
/// kept, else by the nearest voxel. The result's geometry is `original` to the bit. Errors: kInternal when `label` is
/// not on the prepared grid of `original`.
Volume restore_label(Volume label, const Geometry& original, const PreparePlan& plan);

}  // namespace voxshard
