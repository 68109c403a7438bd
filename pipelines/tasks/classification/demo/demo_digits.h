// A small data set of generated digits in MNIST's files, for the demo.
//
//   demo_digits({.folder = "digits"}, 1, progress);     // digits/train-images-idx3-ubyte and three more
#pragma once

#include "pipelines/engine/requests.h"

namespace voxshard {

/// 4000 digits to train with and 1000 held out, if nothing else is said, of 28 pixels a side times `magnify`; the same
/// seed gives the same bytes. Errors: kOutput; Stopped, before anything is written.
DemoReport demo_digits(const DemoOptions& options, int magnify, Progress& progress);

}  // namespace voxshard
