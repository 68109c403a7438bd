// Generates a small data set of digits in MNIST's file format, for the demo.
//
//   demo_digits({.folder = "digits"}, 1, progress);     // digits/train-images-idx3-ubyte and three more
#pragma once

#include "pipelines/engine/requests.h"

namespace voxshard {

/// Writes by default 4000 training digits and 1000 held-out digits, of 28 pixels a side times `magnify`; the same seed
/// gives the same bytes. Errors: kOutput; Stopped, before anything is written.
DemoReport demo_digits(const DemoOptions& options, int magnify, Progress& progress);

}  // namespace voxshard
