// Comparison of two time lines of labels: the time for which each class was predicted, and the time for which it was
// true.
//
//   const std::vector<LabelledTime> found = {{0, 4, 0}, {4, 8, 1}}, truth = {{0, 5, 0}, {6, 10, 1}};
//   time_confusion(found, truth, 2)     // {4, 1, 0,  0, 2, 2}: a row per true class, the last column is time without a
//   prediction time_scores(...).right_s            // 6 of 9 labelled seconds
//
// Time without a true label is not counted.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace voxshard {

struct LabelledTime {
  double begin_s = 0, end_s = 0;
  std::int64_t label = 0;
};

/// Returns (classes, classes + 1) seconds. Each list is in order and without overlaps. Errors: kInternal for lists
/// that are not, times that are not finite, and labels that are no class.   Cost: the lengths of both lists.
std::vector<double> time_confusion(std::span<const LabelledTime> found, std::span<const LabelledTime> truth,
                                   std::int64_t classes);

/// The scores of one class from such a confusion matrix. NaN where no time is counted.
struct ClassTime {
  double true_s = 0, found_s = 0;  // time labelled as this class; labelled time predicted as it
  double recall = 0, precision = 0;
};
struct TimeScores {
  double labelled_s = 0;  // total labelled time
  double found_s = 0;     // labelled time with a prediction
  double right_s = 0;     // labelled time with the right prediction
  double accuracy = 0;    // right_s / labelled_s; NaN without a label
  std::vector<ClassTime> classes;
};
TimeScores time_scores(std::span<const double> confusion, std::int64_t classes);

}  // namespace voxshard
