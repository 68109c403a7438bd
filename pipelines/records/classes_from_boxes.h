// Images with boxes to a folder per class: each box cut out of its image, at full resolution, as an image of its
// class, which a classifier learns from.
//
//   TaskReport r = classes_from_boxes({.input = "bccd/coco_train.json", .output = "cells/train"}, progress);
//
//   OUTPUT/WBC/BloodImage_00001_00000012_003.png      box 3 of the image with that name and number
//
// A call per part: what is cut out of one image stays in its part.
#pragma once

#include "pipelines/engine/requests.h"
#include "pipelines/records/convert_request.h"

namespace voxshard {

/// Boxes around several objects (crowds) are left out, without a word. An image that cannot be read, a box without a
/// pixel and a class whose name is no folder's cost themselves. Errors: kInput for what is no data set of boxes;
/// kNoCase when nothing can be cut out; kOutput; Stopped.
TaskReport classes_from_boxes(const ConvertRequest& request, Progress& progress);

}  // namespace voxshard
