// What the training items of a classifier are like: which are in colour, the mean and deviation of their intensities.
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
/// `wanted`: auto (colour when one image is), colour or grey.
ColourChoice choose_colour(const ClassDataset& set, const std::string& wanted);

/// How items are looked at.
struct ItemPass {
  int threads = 1;                // and as many items are in flight
  std::int64_t memory_bytes = 0;  // that they may take; 0: no limit
  StopCheck stop = {};
};

struct ItemSums {
  std::vector<std::vector<ChannelSums>> of_items;  // of each item that is left, in their order, a channel each
  std::string note;                                // W_FRAMES, when clips have frames that do not decode; else empty
  ProcessPlan plan = {};                           // what looking took
};

/// Decodes every item once, in the channels and the window of `preparation`. What cannot be decoded leaves the set,
/// with its reason among the failures. The same for any number of threads. Errors: kNoCase when nothing is left;
/// kBudget, before anything is read; Stopped.   Cost: reads the items.
ItemSums look_at_items(ClassDataset& set, const ClassPreparation& preparation, const ClassReading& reading,
                       const ItemPass& pass = {});

/// Sets mean and deviation, per channel over all pixels of all items.
void set_statistics(ClassPreparation& preparation, const ItemSums& sums);

}  // namespace voxshard
