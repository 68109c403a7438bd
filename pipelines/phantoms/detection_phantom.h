// Generated images with boxes, for demonstrations and tests: kidneys, vessels, glands and bowel on mottled tissue,
// among plain blobs. All kinds, the blobs and the tissue have the same range of brightness, so that only shape and
// texture distinguish them.
//
//   DetectionPhantom p = make_detection_phantom({.seed = 0, .index = 3});
//   write_rgb("train/phantom_003.png", p.pixels);
#pragma once

#include <cstdint>
#include <vector>

#include "io/boxes/detection_annotations.h"
#include "libcore/tensor/tensor.h"

namespace voxshard {

struct DetectionPhantomOptions {
  std::uint64_t seed = 0;
  int index = 0;    // number of the image
  int magnify = 1;  // 1: sides of 160 to 256 pixels, objects of 22 to 64; 2: twice as large, and so on
};

struct DetectionPhantom {
  Tensor pixels;  // (H, W, 3) u8
  std::vector<TrueBox> boxes;
};

/// Kidney, vessel, gland, bowel; ids 1 to 4.
const std::vector<DetectionClass>& detection_phantom_classes();

/// Generates an image; the same options give the same pixels. It has 2 to 6 objects that do not touch; a box bounds the
/// object's pixels, and its area is their number. Cost: about 30 ms at magnify = 1.   Threads: any number at once.
DetectionPhantom make_detection_phantom(const DetectionPhantomOptions& options);

}  // namespace voxshard
