// What predicted label maps missed, and what they found in cases that have none of it, in lines for people.
//
//   missed: Cord: dice 0.000 in 2 of 5 cases
//   found: Larynx in 3 of 4 cases without it, which count as 0; dice 0.707 in the mean of 4 cases with it
//
// A mean over the cases leaves out a case that has none of a class where nothing is found, and takes a 0 where
// something is, as in nnU-Net. Of two runs one may so look better for what it did not find: the second line says what
// it is like in the cases that have the class.
#pragma once

#include <string>
#include <vector>

#include "pipelines/tasks/segmentation/scores/evaluate_labels.h"

namespace voxshard {

/// Returns "Larynx in 3 of 4 cases without it, which count as 0; dice 0.707 in the mean of 4 cases with it" for each
/// class and region that is found where there is none, by the first metric; none when this is a volume or a distance,
/// or one of which lower is better.
std::vector<std::string> found_where_none(const LabelScores& scores);

/// Returns the lines "missed: " for the classes and regions that not all cases with them show by the first metric, and
/// "found: " for those of found_where_none(), and "unscored: " for those that the cases have but of which a metric has
/// no score at all, as a distance of what is missed everywhere; empty where that says nothing.
std::string missed_labels_text(const LabelScores& scores);

}  // namespace voxshard
