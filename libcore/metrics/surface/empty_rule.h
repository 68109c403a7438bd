// What a metric is when a class is missing from the prediction, the reference or both, a row per rule: published tools
// differ, and a mean over cases depends on it, so that results name their rule.
//
//   const EmptyRule& rule = *find_empty_rule("one");
//   rule.overlap_of_none;                                      // 1: Dice where nothing was to be found and nothing was
#pragma once

#include <string>
#include <vector>

namespace voxshard {

struct EmptyRule {
  const char* name;
  const char* text;            // for readers of the results, in the words of label_scores_json.cc
  double overlap_of_none;      // Dice, IoU and NSD when both are empty; with one empty mask they are 0
  double hausdorff_of_none;    // mm, Hausdorff distances when both are empty
  double average_of_none;      // average surface distance and relative volume difference when both are empty
  double distance_to_nothing;  // mm, all distances when one is empty; relative difference from an empty reference
};

/// All rules; the first is the default. Means leave NaN out and keep infinities.
///   nan  a class in neither has no score, nor has the distance to an empty mask. Source: nnU-Net, evaluation.
///   one  nothing found where nothing is was right: 1, or 0 mm. Source: Project-MONAI/MetricsReloaded, commit 00219d0.
///   inf  a distance to or between empty masks is infinite. Source: google-deepmind/surface-distance, commit 2791a73.
const std::vector<EmptyRule>& empty_rules();
/// Returns the row of this name; null for no row.
const EmptyRule* find_empty_rule(const std::string& name);

}  // namespace voxshard
