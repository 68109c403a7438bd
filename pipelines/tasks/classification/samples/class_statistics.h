// Statistics of the training items of a classifier: whether they are in colour, mean and deviation of their
// intensities.
//
//   const ColourChoice colour = choose_colour(set, "auto");
//   set_statistics(preparation, look_at_items(set, preparation, reading));       // preparation.mean, .deviation
#pragma once

#include "libcore/base/stop.h"
#include "pipelines/model_runs/process_plan.h"
#include "pipelines/tasks/classification/samples/class_preparation.h"

namespace voxshard {

struct ColourChoice {
  std::int64_t channels = 1;
  std::string note;  // W_COLOUR, when images are converted
};
/// Chooses the number of channels. `wanted` is auto (colour when any image is), colour or grey.
ColourChoice choose_colour(const ClassDataset& set, const std::string& wanted);

/// The threads and memory for reading the items.
struct ItemPass {
  int threads = 1;                // as many items are in flight
  std::int64_t memory_bytes = 0;  // for the items in flight; 0: no limit
  StopCheck stop = {};
};

struct ItemSums {
  std::vector<std::vector<ChannelSums>> of_items;  // [item][channel], for the items that are left, in their order
  std::string note;                                // W_FRAMES, when clips have frames that do not decode; else empty
  ProcessPlan plan = {};                           // the memory that reading took
};

/// Decodes every item once, with the channels and the window of `preparation`. Items that cannot be decoded are removed
/// from the set, with the reason among the failures. The result is the same for any number of threads. Errors: kNoCase
/// when nothing is left; kBudget, before anything is read; Stopped.   Cost: reads the items.
ItemSums look_at_items(ClassDataset& set, const ClassPreparation& preparation, const ClassReading& reading,
                       const ItemPass& pass = {});

/// Sets mean and deviation of each channel over all pixels of all items.
void set_statistics(ClassPreparation& preparation, const ItemSums& sums);

}  // namespace voxshard
