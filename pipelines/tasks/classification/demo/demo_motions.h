// Generates a small data set of clips, labelled with the motion of their texture, for the demo of clips.
//
//   demo_motions({.folder = "motions"}, 1, progress);     // motions/train/left/0002.mp4, motions/test/up/0244.mp4
#pragma once

#include "pipelines/engine/requests.h"

namespace voxshard {

/// Writes by default 240 training videos and 60 held-out videos, of 32 frames of 32 pixels a side times `magnify`, 25
/// frames a second, six classes; the same seed gives the same frames. Errors: kOutput; Stopped: complete videos are
/// kept.
DemoReport demo_motions(const DemoOptions& options, int magnify, Progress& progress);

}  // namespace voxshard
