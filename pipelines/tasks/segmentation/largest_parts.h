// The classes of which `predict` keeps the largest connected part alone, or removes islands, by {largest}.
//
//   LargestParts parts("Brainstem,Mandible", classes);
//   LargestParts usual(kLargestAuto, classes, quality_ranges);     // those that lie in one part in the training cases
//   log(parts.keep(LabelSlabs::of(labels), left_bytes));   // "voxels of smaller parts removed: 31 of ..."
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "pipelines/engine/label_slabs.h"
#include "pipelines/tasks/segmentation/quality/quality_ranges.h"

namespace voxshard {

/// The word that leaves it to the training cases.
inline constexpr const char* kLargestAuto = "auto";
/// Under auto a part with more than this share of the voxels of the largest stays: it may be the other half of an organ
/// that a model broke in two. Of 8 held-out head and neck CTs, by 8 runs, Dice is the same for any share from 0.3 on.
inline constexpr double kIslandShare = 0.5;

class LargestParts {
 public:
  /// Keeps everything.
  LargestParts() = default;
  ///   largest  none, all, auto, or names of classes with commas. auto: of each class of which no training case has
  ///            a second part that counts (kLeastPartShare), where enough cases have it, islands alone are removed
  ///   classes  by label, the background first
  ///   usual    of the training cases, for auto; none: it keeps everything
  /// Errors: kUsage for a name that no class has.
  LargestParts(const std::string& largest, const std::vector<std::string>& classes,
               const std::optional<QualityRanges>& usual = std::nullopt);

  /// Returns the sentence for the log of what auto chose; empty where it chose nothing, and for the other words.
  std::string choice_text() const;

  /// Sets the parts that are not kept to background (io/volume/largest_component.h); returns what was removed, for the
  /// log; empty when nothing was. Errors: kInput E_BUDGET.
  ///   left_bytes  memory that this may take; 0: no limit
  std::string keep(const LabelSlabs& labels, std::int64_t left_bytes) const;

 private:
  std::vector<std::string> classes_;
  std::vector<char> chosen_;  // by class
  bool any_ = false, auto_ = false;
};

}  // namespace voxshard
