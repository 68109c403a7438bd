// The classes that were annotated in each case: where a class was not contoured its voxels look like background, which
// is no evidence. A dataset.json says it under the key "annotated":
//
//   {"annotated": {"case_07": ["liver", "spleen"]}}         // the other classes of case_07 are unknown
//
// Cases that it does not name are complete; of these `prepare` decides what a class without a voxel is. A list of all
// classes says that those without a voxel are not there.
#pragma once

#include <filesystem>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "io/datasets/dataset.h"

namespace voxshard {

/// Sets Case::annotated from a dataset.json. Errors: kInput for a value of another form, a case that the data set does
/// not have, or a class that it does not have.
///   ids  kHidden: the error does not name the case
void read_annotated(const nlohmann::json& root, const std::filesystem::path& file, IdsInErrors ids, Dataset& dataset);

/// Returns the value of "annotated" for a dataset.json; an empty object when no case has a list.
nlohmann::ordered_json annotated_json(const Dataset& dataset);

/// Returns the names of annotated classes as numbers, sorted; the background is left out. Errors: kInput for a name
/// that is no class.
///   classes  by number; [0] is the background
std::vector<int> annotated_classes(const std::vector<std::string>& names, const std::vector<std::string>& classes,
                                   const std::filesystem::path& file);

/// Returns the annotated classes of a case; none where these are all, so that the case is complete.
///   classes  of the data set, with the background
std::optional<std::vector<int>> unless_all(std::vector<int> annotated, int classes);

/// True when a class of a case was annotated, found there or not.
bool is_annotated(const std::optional<std::vector<int>>& annotated, int label);

}  // namespace voxshard
