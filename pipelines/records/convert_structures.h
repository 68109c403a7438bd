// A DICOM segmentation or RT structure set as a label map on the grid of an image, for
// `voxshard convert RS.dcm --like study/ct --classes map.toml -o labels.nii.gz`.
//
//   TaskReport r = convert_structures({.input = "RS.dcm", .output = "labels.nii.gz", .like = "study/ct"});
#pragma once

#include "pipelines/engine/requests.h"
#include "pipelines/records/convert_request.h"

namespace voxshard {

/// Writes classes as the map numbers them, or without a map the numbers of the structures in the file. The label map
/// has the grid of request.like; without one a segmentation keeps its own.
/// Errors: kInput as read_structures_on; E_CLASS when no structure belongs to a class; kUsage for contours without an
/// image; kConfig as read_class_map; kOutput.
TaskReport convert_structures(const ConvertRequest& request);

}  // namespace voxshard
