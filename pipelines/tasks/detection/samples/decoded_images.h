// Images are decoded once before a training begins with them: a file of full length whose bytes are damaged costs
// itself then, and not the run later.
//
//   leave_out_undecoded(sets.train, reader, {.threads = 2});      // notes: {"p3.png", "E_READ", "..."}
#pragma once

#include "io/image/image_reader.h"
#include "libcore/base/stop.h"
#include "pipelines/tasks/detection/dataset/detection_dataset.h"

namespace voxshard {

/// How images are looked at.
struct ImagePass {
  int threads = 1;                // and at most as many images are in flight
  std::int64_t memory_bytes = 0;  // that they may take; 0: no limit
  StopCheck stop = {};
};

/// What cannot be decoded leaves the set, with its reason among the notes. The same for any number of threads. Errors:
/// kNoCase when nothing is left; kBudget, before anything is read, when not one fits; Stopped.   Cost: decodes every
/// image.
void leave_out_undecoded(DetectionDataset& set, const ImageReader& reader, const ImagePass& pass);

}  // namespace voxshard
