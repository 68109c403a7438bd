// One score of an evaluation or a validation, for tables that compare several.
//
//   std::vector<ClassScore> scores = {{"liver", "dice", 0.93}, {"", "dice", 0.81}};
#pragma once

#include <string>

namespace voxshard {

struct ClassScore {
  std::string scored;  // a class; empty: over all classes
  std::string metric;  // the key of the metric: "dice"
  double value = 0;    // NaN: there is none
  int digits = 3;      // shown to people
};

}  // namespace voxshard
