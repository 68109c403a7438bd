// The channels of a case as a model sees them: in its own turn, or read ahead while the network works on another case.
//
//   PreparedChannels found = prepared_channels(item, plan, {.formats = formats, .check = check});
#pragma once

#include <functional>
#include <optional>
#include <vector>

#include "io/datasets/dataset.h"
#include "io/volume/volume.h"
#include "libcore/tensor/box.h"
#include "pipelines/tasks/segmentation/dataset/prepare_plan.h"

namespace voxshard {

struct PreparedChannels {
  Geometry original, grid;
  std::optional<Box> crop;       // of nnU-Net's convention, the same for all channels
  std::vector<Tensor> channels;  // (D, H, W) f32, normalised
  double reading_s = 0, preparing_s = 0;
};

struct CaseReader {
  const VolumeFormats& formats;
  std::function<void()> check = {};  // called after each file; what it throws ends the reading
  /// Called where the run was trained on CT and the first channel has the values of a label map alone; may be empty.
  std::function<void()> like_mask = {};
};

/// Reads and prepares the channels of a case. Each volume is released when the next one is made: the memory plan counts
/// on that. Errors: kInput; those of reader.check.   Threads: any number at once.
PreparedChannels prepared_channels(const Case& item, const PreparePlan& plan, const CaseReader& reader);

}  // namespace voxshard
