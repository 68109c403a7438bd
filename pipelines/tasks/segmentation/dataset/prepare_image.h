// The preparation of one image or label by a plan, and the way back. `prepare` and `predict` both call these functions,
// so that a model sees at prediction what it saw in training.
//
//   PreparedImage x = prepare_image(ct, plan);
//   Volume labels = ...;                                    // what the model says, on x.image.geometry
//   Volume out = restore_label(labels, ct.geometry);        // on the grid of the input file
#pragma once

#include "io/volume/volume.h"
#include "pipelines/tasks/segmentation/dataset/prepare_plan.h"

namespace voxshard {

struct PreparedImage {
  Volume image;                    // f32, normalised, oriented, on the plan's spacing
  Geometry original;               // of the input
  double mean_hu = 0, std_hu = 1;  // what was subtracted and divided by
};

/// Reorients, clips, normalises, resamples (linear), in this order.
///   ct  f32 HU
/// Cost: `ct` and one copy of it while it is turned; then that and the result while it is resampled; nothing where
/// neither is needed and `ct` is moved in.   Threads: any number at once.
PreparedImage prepare_image(Volume ct, const PreparePlan& plan);

/// Reorients and resamples (nearest) a label map in the same way. The grid equals that of the prepared image.
Volume prepare_label(Volume label, const PreparePlan& plan);

/// The grid that prepare_image gives, without any voxel: to predict memory, or to plan.
Geometry prepared_geometry(const Geometry& original, const PreparePlan& plan);

/// A label map on the prepared grid back onto the input's grid: exact permutes and flips when the spacing was kept,
/// else nearest voxel. The result's geometry is `original` to the bit. Errors: kInternal when `label` is not on the
/// prepared grid of `original`.
Volume restore_label(Volume label, const Geometry& original, const PreparePlan& plan);

}  // namespace voxshard
