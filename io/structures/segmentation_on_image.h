// The label map of a DICOM segmentation on the grid of an image, by nearest neighbour.
//
//   const OnImage found = segmentation_on_image(seg, image, class_of_structure, 0.5);
//
// Called by structure_labels.h.
#pragma once

#include <map>

#include "io/dicom/segmentation.h"
#include "io/volume/volume.h"

namespace voxshard {

struct OnImage {
  Volume volume;             // i32 on the image's grid
  std::int64_t shared = 0;   // voxels of the segmentation that several classes claim
  std::int64_t partial = 0;  // voxels that a fractional segment fills in part
  std::int64_t outside = 0;  // labelled voxels of the segmentation whose centre lies outside of the image
  bool same_voxels = true;   // false: the grids have other voxels, or lie shifted by a part of one
};

/// Looks up the voxel of the segmentation at the centre of each image voxel; 0 outside of it. The axes of the two may
/// be in another order and direction, but must be parallel: lines of voxels may not diverge by more than a quarter
/// voxel. Errors: kInput as read_segmentation; E_GEOMETRY for axes that are not parallel, and grids that share no
/// place.
///   class_of_structure  by number of the segment; others are left out
OnImage segmentation_on_image(const DicomSegmentation& segmentation, const Geometry& image,
                              const std::map<int, int>& class_of_structure, double least_fraction);

}  // namespace voxshard
