// What the training items of a classifier are like: which are in colour, the mean and deviation of their intensities.
//
//   const ColourChoice colour = choose_colour(set, "auto");
//   set_statistics(preparation, set, reading);       // preparation.mean, .deviation
#pragma once

#include "pipelines/tasks/classification/class_preparation.h"

namespace voxshard {

struct ColourChoice {
  std::int64_t channels = 1;
  std::string note;  // W_COLOUR, when pictures are converted
};
/// `wanted`: auto (colour when one picture is), colour or grey.
ColourChoice choose_colour(const ClassDataset& set, const std::string& wanted);

/// Sets mean and deviation, per channel over all pixels; above 2^28 pixels over items spread evenly over the set. What
/// cannot be decoded leaves the set, with its reason among the failures. The same for any number of threads. Errors:
/// kNoCase when nothing is left.   Cost: reads the items.
///   returns  W_FRAMES, when clips that were read have frames that do not decode; else empty
std::string set_statistics(ClassPreparation& preparation, ClassDataset& set, const ClassReading& reading);

}  // namespace voxshard
