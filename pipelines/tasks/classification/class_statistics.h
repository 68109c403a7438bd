// What the training items of a classifier are like: which are in colour, the mean and deviation of their intensities.
//
//   const ColourChoice colour = choose_colour(set, "auto");
//   set_statistics(preparation, set, reading);       // preparation.mean, .deviation
#pragma once

#include "libcore/base/stop.h"
#include "pipelines/tasks/classification/class_preparation.h"

namespace voxshard {

struct ColourChoice {
  std::int64_t channels = 1;
  std::string note;  // W_COLOUR, when pictures are converted
};
/// `wanted`: auto (colour when one picture is), colour or grey.
ColourChoice choose_colour(const ClassDataset& set, const std::string& wanted);

struct StatisticsPass {
  bool normalises = true;         // false: mean and deviation stay as they are
  int threads = 1;                // and as many items are in flight
  std::int64_t memory_bytes = 0;  // that they may take; 0: no limit
  StopCheck stop = {};
};

/// Decodes every item once, so that none of them can end a training later. What cannot be decoded leaves the set, with
/// its reason among the failures. Sets mean and deviation, per channel over all pixels. The same for any number of
/// threads. Errors: kNoCase when nothing is left; kBudget, before anything is read; Stopped.   Cost: reads the items,
/// but for those of IDX, which are held, when nothing is normalised.
///   returns  W_FRAMES, when clips have frames that do not decode; else empty
std::string set_statistics(ClassPreparation& preparation, ClassDataset& set, const ClassReading& reading,
                           const StatisticsPass& pass = {});

}  // namespace voxshard
