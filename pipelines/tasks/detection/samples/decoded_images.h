// Decodes images once before training: a file of full length with damaged bytes is then left out, and does not end the
// run later.
//
//   leave_out_undecoded(sets.train, reader, {.threads = 2});      // notes: {"p3.png", "E_READ", "..."}
#pragma once

#include "io/image/image_reader.h"
#include "libcore/base/stop.h"
#include "pipelines/tasks/detection/dataset/detection_dataset.h"

namespace voxshard {

/// The threads and memory for decoding the images.
struct ImagePass {
  int threads = 1;                // at most as many images are in flight
  std::int64_t memory_bytes = 0;  // for the images in flight; 0: no limit
  StopCheck stop = {};
};

/// Removes images that cannot be decoded from the set, with the reason among the notes. The result is the same for any
/// number of threads. Errors: kNoCase when nothing is left; kBudget, before anything is read, when not even one image
/// fits; Stopped.   Cost: decodes every image.
void leave_out_undecoded(DetectionDataset& set, const ImageReader& reader, const ImagePass& pass);

}  // namespace voxshard
