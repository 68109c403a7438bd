// `voxshard demo --task detection`: a small COCO set of generated pictures (pipelines/phantoms/detection_phantom.h).
//
//   DemoReport r = run_demo_detection({.folder = "demo", .task = "detection", .cases = 120}, 1, progress);
//
// Called by run_demo.
#pragma once

#include "pipelines/commands/run_demo.h"

namespace voxshard {

/// Writes annotations/instances_{train,val}.json, train/*.png and val/*.png. The same options give the same bytes.
/// Errors: kOutput.
DemoReport run_demo_detection(const DemoOptions& options, int magnify, Progress& progress);

}  // namespace voxshard
