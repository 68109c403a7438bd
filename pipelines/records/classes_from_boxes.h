// Converts images with boxes to one folder per class, as training data for a classifier: each box is cut out of its
// image at full resolution.
//
//   TaskReport r = classes_from_boxes({.input = "bccd/coco_train.json", .output = "cells/train"}, progress);
//
//   OUTPUT/WBC/BloodImage_00001_00000012_003.png      box 3 of the image with that name and number
//
// One call per part (train, val, test): all crops of an image stay in the same part.
#pragma once

#include "pipelines/engine/requests.h"
#include "pipelines/records/convert_request.h"

namespace voxshard {

/// Boxes around several objects (crowds) are left out without a note. An image that cannot be read, a box without a
/// pixel and a class whose name cannot be a folder's are left out and reported. Errors: kInput for an input that is no
/// data set of boxes; kNoCase when nothing can be cut out; kOutput; Stopped.
TaskReport classes_from_boxes(const ConvertRequest& request, Progress& progress);

}  // namespace voxshard
