// The baseline of a classifier: a logistic model that sees only the mean of each channel of an item.
//
//   const std::vector<double> seen = mean_intensities(look_at_items(train, preparation, reading)), asked = ...;
//   Classified guessed = fitted_logistic({.features = seen, .labels = labels, .classes = 3}, asked);
//
// Called by evaluate.
#pragma once

#include "libcore/metrics/classified.h"
#include "pipelines/tasks/classification/samples/class_statistics.h"

namespace voxshard {

/// Returns the channel means of items from look_at_items(), (items, channels), row by row; 0 to 1, for volumes within
/// the default window.
std::vector<double> mean_intensities(const ItemSums& sums);

struct LogisticFit {
  std::vector<double> features;      // (items, count), row by row
  std::vector<std::int64_t> labels;  // (items): 0 to classes - 1
  std::int64_t classes = 2;
  bool balanced = false;  // true: all classes count the same, however many items each has
  int steps = 3000;
};

/// Fits softmax(a x + b) by accelerated gradient steps from 0 on the mean cross-entropy, with x standardised to mean 0
/// and deviation 1, and predicts the probabilities of other items.
///   others   (items, count), row by row
///   returns  their probabilities; `truth` is left to the caller
/// Source: Beck and Teboulle 2009 (FISTA); the step is 2 over the mean square length of a row.
Classified fitted_logistic(const LogisticFit& fit, const std::vector<double>& others);

}  // namespace voxshard
