// The rules of the flags that a predicted label map may get: one row each, with a stable code and a function that holds
// the facts of a case against what is usual of the training cases. pipelines/README.md tells each rule in words.
//
//   for (const QualityFlag& flag : quality_flags(facts, ranges, names)) flag.code;     // "W_VIEW"
#pragma once

#include <string>
#include <vector>

#include "pipelines/tasks/segmentation/quality/quality_ranges.h"

namespace voxshard {

/// Margins of the rules: of the least extent of the training images; of an area on a border, in addition to that share
/// of usual volume^(2/3); of a number of parts, as factor and addend.
inline constexpr double kLeastViewShare = 0.8;
inline constexpr double kMostBorderFactor = 2, kBorderShare = 0.1;
inline constexpr double kMostPartsFactor = 1.5;
inline constexpr std::int64_t kFurtherParts = 1;

/// Something of a predicted case that a person should look at.
struct QualityFlag {
  std::string code;
  int label_class = 0;  // 0: it is about the image
  std::string what;     // without a full stop
};

/// One rule. Its function is called with ranges that hold enough cases.
struct QualityRule {
  const char* code;
  std::vector<QualityFlag> (*flags)(const QualityFacts& facts, const QualityRanges& ranges,
                                    const std::vector<std::string>& class_names);
};
const std::vector<QualityRule>& quality_rules();

/// Returns the flags of a case in the order of the rules; none where the ranges are of too few cases.
///   class_names  by class of the data
std::vector<QualityFlag> quality_flags(const QualityFacts& facts, const QualityRanges& ranges,
                                       const std::vector<std::string>& class_names);

}  // namespace voxshard
