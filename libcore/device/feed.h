// The bytes that are brought to the cores for a step: the inputs of the graph, and their size in the records of the
// original system, which feed an emulated slice.
//
//   Feed feed = feed_of(graph, task.records());      // 16 bytes a voxel with 1 channel and 3 classes
#pragma once

#include "libcore/graph/graph.h"

namespace voxshard {

/// The form in which the hosts of the original system read the samples of a task.
struct RecordFormat {
  double image_bytes = 4;  // per number of the image
  bool one_hot = true;     // labels are sent as an f32 per class; else as they are fed
  /// Bytes per number of the image after the record is unpacked: 4 from gzip (f32), 1 from JPEG. 0: the record is not
  /// packed. One-hot labels are unpacked with the image; other labels are made from boxes.
  double unpacked_image_bytes = 4;
};

/// All samples of a step on their way to the cores.
struct Feed {
  // unpacked size of the records that the hosts of a slice inflate and parse; 0: nothing to unpack
  double record_bytes = 0;
  double transfer_bytes = 0;  // sent from those hosts to the cores
  double input_bytes = 0;     // of the graph's inputs: written when the cores run in this process
};

Feed feed_of(const Graph& graph, const RecordFormat& format);

}  // namespace voxshard
