// What a classifier has to beat: a logistic model that sees nothing of an item but the mean of each channel.
//
//   const std::vector<double> seen = mean_intensities(train, 3, reading), asked = mean_intensities(test, 3, reading);
//   Classified guessed = fitted_logistic({.features = seen, .labels = labels, .classes = 3}, asked);
//
// Called by evaluate.
#pragma once

#include "libcore/metrics/classified.h"
#include "pipelines/tasks/classification/class_dataset.h"

namespace voxshard {

/// The means of every item's channels, (items, channels), row by row; 0 to 1, of volumes within the usual window. What
/// cannot be read leaves the set, with its reason among the failures.   Cost: reads the items.
std::vector<double> mean_intensities(ClassDataset& set, std::int64_t channels, const ClassReading& reading);

struct LogisticFit {
  std::vector<double> features;      // (items, count), row by row
  std::vector<std::int64_t> labels;  // (items): 0 to classes - 1
  std::int64_t classes = 2;
  bool balanced = false;  // all classes count alike, however many items each has
  int steps = 3000;
};

/// Fits softmax(a x + b) by accelerated gradient steps from 0 on the mean cross-entropy, x brought to mean 0 and
/// deviation 1, and says the probabilities of others.
///   others   (items, count), row by row
///   returns  their probabilities; `truth` is left to the caller
/// Source: Beck and Teboulle 2009 (FISTA); the step is 2 over the mean square length of a row.
Classified fitted_logistic(const LogisticFit& fit, const std::vector<double>& others);

}  // namespace voxshard
