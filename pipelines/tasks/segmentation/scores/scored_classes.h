// What is scored: the foreground classes, and regions, which are unions of classes. A data set with regions is scored
// by its regions, as nnU-Net does; regions of the command line stand beside the classes and count in no mean over them.
//
//   const auto scored = scored_classes({.classes = 4, .asked = regions_from_text("tumour=1,2,3")});
//   scored.back().id, scored.back().labels                     // 5, {1, 2, 3}
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "io/datasets/dataset.h"
#include "io/datasets/summary.h"

namespace voxshard {

/// Label maps with higher labels are refused: they are no label maps, and a class for each label would fill the memory.
inline constexpr int kHighestLabel = 65535;

struct ScoredClass {
  int id = 0;               // its label; of a region a number beyond all labels
  std::string name;         // "liver"; without names the label
  std::vector<int> labels;  // one, or those of a region
  bool is_region = false;
  bool in_mean = true;  // counts in the mean over the classes

  /// True when all its labels are among `annotated`; null: all are.
  bool is_annotated(const std::optional<std::vector<int>>& annotated) const;
  /// "liver"; "tumour (1, 2, 3)".
  std::string shown_name() const;
};

struct ScoredClassesOf {
  int classes = 0;                        // with the background
  std::vector<std::string> names = {};    // by class; may be empty
  std::vector<LabelRegion> regions = {};  // of the data set
  std::vector<LabelRegion> asked = {};    // of the command line
  bool has_dataset = false;               // true: a region has labels of the data set only
};
/// Returns the classes, or the data set's regions, and then the regions that are asked for. Errors: kUsage for a region
/// with a label that the data set does not have.
std::vector<ScoredClass> scored_classes(const ScoredClassesOf& of);

/// "tumour=1,2,3;core=2,3" -> two regions; a comma does in place of the semicolon. Errors: kUsage for another form, a
/// label below 1 or twice in its region, and a name that is given twice or has control characters.
std::vector<LabelRegion> regions_from_text(const std::string& text);

/// Returns the keys of summary.json, those of nnU-Net: "1", "(1, 2, 3)".
SummaryClasses summary_classes(const std::vector<ScoredClass>& scored);

}  // namespace voxshard
