// The contact sheet of a folder of predicted label maps as a page of HTML: volumes by case and class, and slices of
// each case with its labels.
//
//   SheetBudget budget = sheet_budget(sizes, classes);       // how many cases are shown, and how finely
//   write_page("report.html", sheet_page({.name = "pred", .classes = names, .cases = cases, .budget = budget}), ...);
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "pipelines/tasks/segmentation/sheet/sheet_case.h"

namespace voxshard {

/// What fits into a page of kMostPageBytes.
struct SheetBudget {
  std::size_t listed = 0;  // cases with their volumes
  std::size_t sliced = 0;  // the first of these, with slices
  SheetLimits limits;
  bool thinned() const { return limits.planes < SheetLimits().planes || limits.side < SheetLimits().side; }
};

/// Returns the finest slices with which all cases fit; with the coarsest, of as many as fit.
///   sizes  of the label maps, in voxels
SheetBudget sheet_budget(const std::vector<Shape>& sizes, std::size_t classes);

struct Sheet {
  std::string name;                      // of the folder
  std::vector<std::string> classes;      // [0] is the background
  std::size_t found = 0;                 // label maps in the folder
  nlohmann::ordered_json cases = {};     // of sheet_case(), those with slices first
  nlohmann::ordered_json left_out = {};  // label maps that cannot be read, {"E_READ": 1}
  SheetBudget budget;
};

/// Returns "no voxel of Cord in 3 of 3 cases" for each class that some case has nothing of, the most often missing
/// first.
std::vector<std::string> empty_classes(const nlohmann::ordered_json& cases);

/// Returns the page, whose element report-data holds {"format": "voxshard contact sheet 1", "name", "classes", "cases",
/// "slices": {"cases"}}. Text from files is escaped.
std::string sheet_page(const Sheet& sheet);

}  // namespace voxshard
