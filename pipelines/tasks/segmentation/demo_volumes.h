// Generates a small nnU-Net v2 folder of CT phantoms (pipelines/phantoms/phantom.h).
//
//   DemoReport r = demo_volumes({.folder = "demo", .cases = 12, .test_cases = 4}, 1, progress);
#pragma once

#include "pipelines/engine/requests.h"

namespace voxshard {

/// Writes imagesTr, labelsTr, imagesTs, labelsTs and dataset.json; the same options give the same bytes. Errors:
/// kOutput.
DemoReport demo_volumes(const DemoOptions& options, int subdivide, Progress& progress);

}  // namespace voxshard
