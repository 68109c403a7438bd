// In how many cases each class was annotated. Where a class was not contoured, its voxels look like background:
// training ignores the background of such a case or merges them, and scores leave the class out.
//
//   const ClassCoverage c = class_coverage(records, {"background", "liver", "oesophagus"});
//   c.cases_with[2];         // 14, of 40
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

namespace voxshard {

struct ClassCoverage {
  std::vector<std::string> classes;  // without the background
  std::vector<int> cases_with;       // by class: cases in which it was annotated, found or not
  int cases = 0, complete = 0;       // complete: every class was annotated
};

/// Counts the records of prepared cases. A record without the key "annotated" is of a complete case.
///   names  by class; [0] is the background
ClassCoverage class_coverage(const nlohmann::ordered_json& records, const std::vector<std::string>& names);

nlohmann::ordered_json to_json(const ClassCoverage& coverage);
/// Returns a line for each class that some case lacks, and what that means; empty when all cases are complete.
std::string to_text(const ClassCoverage& coverage);

}  // namespace voxshard
