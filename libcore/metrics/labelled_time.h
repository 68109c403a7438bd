// Time lines against each other: for how long something was said, and for how long it was true.
//
//   const std::vector<LabelledTime> found = {{0, 4, 0}, {4, 8, 1}}, truth = {{0, 5, 0}, {6, 10, 1}};
//   time_confusion(found, truth, 2)     // {4, 1, 0,  0, 2, 2}: a row per true class, the last column is nothing said
//   time_scores(...).right_s            // 6 of 9 labelled seconds
//
// What is not labelled is not counted.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace voxshard {

struct LabelledTime {
  double begin_s = 0, end_s = 0;
  std::int64_t label = 0;
};

/// (classes, classes + 1) seconds. Both lists are in order and do not overlap themselves. Errors: kInternal for lists
/// that do, times that are not finite, and labels that are no class.   Cost: the lengths of both lists.
std::vector<double> time_confusion(std::span<const LabelledTime> found, std::span<const LabelledTime> truth,
                                   std::int64_t classes);

/// What such a confusion says of one class. NaN where no time is counted.
struct ClassTime {
  double true_s = 0, found_s = 0;  // labelled as this class; labelled, and taken for it
  double recall = 0, precision = 0;
};
struct TimeScores {
  double labelled_s = 0;  // in all
  double found_s = 0;     // of it: something is said
  double right_s = 0;     // of it: what is said is true
  double accuracy = 0;    // right_s / labelled_s; NaN without a label
  std::vector<ClassTime> classes;
};
TimeScores time_scores(std::span<const double> confusion, std::int64_t classes);

}  // namespace voxshard
