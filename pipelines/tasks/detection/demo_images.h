// Generates a small COCO data set of images (pipelines/phantoms/detection_phantom.h).
//
//   DemoReport r = demo_images({.folder = "demo", .cases = 120}, 1, progress);
#pragma once

#include "pipelines/engine/requests.h"

namespace voxshard {

/// Writes annotations/instances_{train,val}.json, train/*.png and val/*.png. The same options give the same bytes.
/// Errors: kOutput.
DemoReport demo_images(const DemoOptions& options, int magnify, Progress& progress);

}  // namespace voxshard
