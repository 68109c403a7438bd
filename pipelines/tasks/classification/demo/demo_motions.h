// A small data set of generated clips, labelled with how their texture moves, for the demo of clips.
//
//   demo_motions({.folder = "motions"}, 1, progress);     // motions/train/left/0002.mp4, motions/test/up/0244.mp4
#pragma once

#include "pipelines/engine/requests.h"

namespace voxshard {

/// 240 videos to train with and 60 held out, if nothing else is said, of 32 frames of 32 pixels a side times `magnify`,
/// 25 frames a second, six classes; the same seed gives the same frames. Errors: kOutput; Stopped: the videos that are
/// whole stay.
DemoReport demo_motions(const DemoOptions& options, int magnify, Progress& progress);

}  // namespace voxshard
