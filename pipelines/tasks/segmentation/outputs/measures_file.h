// The files of measures: one a case, written with its label map, and measures.json and measures.csv with those of all
// cases of a prediction, which are made of the first ones when the command ends.
//
//   write_case_measures(folder / "a.measures.json", {"a", classes, measures, "HU", flags});
//   join_measures(folder, {"a", "b"});
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "pipelines/tasks/segmentation/outputs/class_measures.h"
#include "pipelines/tasks/segmentation/quality/quality_rules.h"

namespace voxshard {

inline constexpr const char* kMeasuresEnding = ".measures.json";
inline constexpr const char* kMeasuresJson = "measures.json";
inline constexpr const char* kMeasuresCsv = "measures.csv";

/// The contents of the file of a case.
struct CaseMeasures {
  const std::string& id;
  const std::vector<std::string>& classes;     // names by label; [0], the background, is left out
  const std::vector<ClassMeasures>& measures;  // by label
  std::string unit = {};                       // of mean and deviation, "HU"; may be empty
  const std::vector<QualityFlag>& flags;
};

/// Writes {"case", "unit", "classes": [{"class", "label", "voxels", "ml", "mean", "deviation", "diameter_mm"}],
/// "flags":
/// [{"code", "class", "what"}]}; what a class without voxels lacks is null, and the class of a flag about the image.
/// Errors: kOutput.
void write_case_measures(const std::filesystem::path& file, const CaseMeasures& one);

/// Writes both files for cases of a folder, in this order; cases without a file of measures are left out. Errors:
/// kInput for one that is malformed, kOutput.
void join_measures(const std::filesystem::path& folder, const std::vector<std::string>& ids);
/// Removes both files, which an earlier call left.
void remove_measures(const std::filesystem::path& folder);

}  // namespace voxshard
