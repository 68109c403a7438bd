// The classes of which `predict` keeps the largest connected part alone, by {largest}.
//
//   LargestParts parts("Brainstem,Mandible", classes);
//   LargestParts usual(kLargestAuto, classes, quality_ranges);     // those that lie in one part in the training cases
//   log(parts.keep(LabelSlabs::of(labels), left_bytes));   // "voxels outside of the largest part removed: 31 of ..."
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "pipelines/engine/label_slabs.h"
#include "pipelines/tasks/segmentation/quality/quality_ranges.h"

namespace voxshard {

/// The word that leaves it to the training cases.
inline constexpr const char* kLargestAuto = "auto";

class LargestParts {
 public:
  /// Keeps everything.
  LargestParts() = default;
  ///   largest  none, all, auto, or names of classes with commas. auto: each class of which no training case has a
  ///            second part that counts (kLeastPartShare), where enough cases have it
  ///   classes  by label, the background first
  ///   usual    of the training cases, for auto; none: it keeps everything
  /// Errors: kUsage for a name that no class has.
  LargestParts(const std::string& largest, const std::vector<std::string>& classes,
               const std::optional<QualityRanges>& usual = std::nullopt);

  /// Returns the sentence for the log of what auto chose; empty where it chose nothing, and for the other words.
  std::string choice_text() const;

  /// Sets the other parts to background (io/volume/largest_component.h); returns what was removed, for the log; empty
  /// when nothing was. Errors: kInput E_BUDGET.
  ///   left_bytes  memory that this may take; 0: no limit
  std::string keep(const LabelSlabs& labels, std::int64_t left_bytes) const;

 private:
  std::vector<std::string> classes_;
  std::vector<char> chosen_;  // by class
  bool any_ = false, auto_ = false;
};

}  // namespace voxshard
