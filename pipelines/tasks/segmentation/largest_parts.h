// The classes of which `predict` keeps the largest connected part alone, by {largest}.
//
//   LargestParts parts("Brainstem,Mandible", classes);
//   log(parts.keep(LabelSlabs::of(labels), left_bytes));   // "voxels outside of the largest part removed: 31 of ..."
#pragma once

#include <string>
#include <vector>

#include "pipelines/engine/label_slabs.h"

namespace voxshard {

class LargestParts {
 public:
  /// Keeps everything.
  LargestParts() = default;
  ///   largest  none, all, or names of classes with commas
  ///   classes  by label, the background first
  /// Errors: kUsage for a name that no class has.
  LargestParts(const std::string& largest, const std::vector<std::string>& classes);

  /// Sets the other parts to background (io/volume/largest_component.h); returns what was removed, for the log; empty
  /// when nothing was. Errors: kInput E_BUDGET.
  ///   left_bytes  memory that this may take; 0: no limit
  std::string keep(const LabelSlabs& labels, std::int64_t left_bytes) const;

 private:
  std::vector<std::string> classes_;
  std::vector<char> chosen_;  // by class
  bool any_ = false;
};

}  // namespace voxshard
