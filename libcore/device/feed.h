// What has to be brought to the cores for a step: the inputs of the graph, and what they are in the records of the
// original system, by which an emulated slice is fed.
//
//   Feed feed = feed_of(graph, task.records());      // 16 bytes a voxel with 1 channel and 3 classes
#pragma once

#include "libcore/graph/graph.h"

namespace voxshard {

/// How the original's hosts get the samples of a task.
struct RecordFormat {
  double image_bytes = 4;  // of one number of the image
  bool one_hot = true;     // labels as an f32 per class; else as they are fed
  /// Of one number of the image as it comes out of what unpacks the record: f32 out of gzip, a byte out of JPEG. 0: the
  /// record is not packed. Labels are unpacked with it where they are one-hot, else they are made from boxes.
  double unpacked_image_bytes = 4;
};

/// All samples of a step on their way to the cores.
struct Feed {
  double record_bytes = 0;    // unpacked: what the hosts of a slice inflate and parse; 0: nothing to unpack
  double transfer_bytes = 0;  // as they cross from those hosts to the cores
  double input_bytes = 0;     // of the graph's inputs: what is written where the cores are this process
};

Feed feed_of(const Graph& graph, const RecordFormat& format);

}  // namespace voxshard
