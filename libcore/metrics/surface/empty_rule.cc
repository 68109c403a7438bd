#include "libcore/metrics/surface/empty_rule.h"

#include <limits>

namespace voxshard {

const std::vector<EmptyRule>& empty_rules() {
  constexpr double kNan = std::numeric_limits<double>::quiet_NaN(), kInf = std::numeric_limits<double>::infinity();
  static const std::vector<EmptyRule> kRules = {
      {.name = "nan",
       .text = "both empty: null, left out of the mean",
       .overlap_of_none = kNan,
       .hausdorff_of_none = kNan,
       .average_of_none = kNan,
       .distance_to_nothing = kNan},
      {.name = "one",
       .text = "both empty: 1, distances 0; one empty: distances null, left out of the mean",
       .overlap_of_none = 1,
       .hausdorff_of_none = 0,
       .average_of_none = 0,
       .distance_to_nothing = kNan},
      {.name = "inf",
       .text = "both empty: null, left out of the mean, Hausdorff distances inf; one empty: distances inf",
       .overlap_of_none = kNan,
       .hausdorff_of_none = kInf,
       .average_of_none = kNan,
       .distance_to_nothing = kInf}};
  return kRules;
}

const EmptyRule* find_empty_rule(const std::string& name) {
  for (const EmptyRule& rule : empty_rules())
    if (name == rule.name) return &rule;
  return nullptr;
}

}  // namespace voxshard
