// What a preparation is made of: the files of its cases, the options, and the plan that follows from both. Their hashes
// stand in the manifest of the work folder, by which a later call knows what it may keep.
//
//   const Json sources = source_hashes(dataset.training[i]);
//   work.start({.options = options_hash(plan, options), .parts = part_names(dataset)});
#pragma once

#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "io/datasets/dataset.h"
#include "pipelines/tasks/segmentation/dataset/prepare_dataset.h"

namespace voxshard {

/// [[name, hash], ...] of the files a case is made of; null for one that cannot be read, which its turn will say.
nlohmann::ordered_json source_hashes(const Case& item);

/// What is odd about the volumes of a case, by their headers: W_FORMS. Those that cannot be read have none.
std::vector<CaseFailure> source_warnings(const Case& item, const VolumeFormats& formats);

/// What the plan depends on: an earlier plan holds as long as this is the same.
///   sources  by training case
nlohmann::ordered_json request_of(const PrepareOptions& options, const Dataset& dataset,
                                  const std::vector<nlohmann::ordered_json>& sources);
/// The plan that stands in the work folder for the same request, also one that a person edited.
std::optional<PreparePlan> earlier_plan(const std::filesystem::path& work, const nlohmann::ordered_json& request);

/// The data set's folder, and wherever else its files lie.
std::vector<std::filesystem::path> inputs_of(const Dataset& dataset);
/// Of what decides how a case is prepared, but for the case itself.
std::string options_hash(const PreparePlan& plan, const PrepareOptions& options);
/// All parts of the work folder: plan, fingerprint, cases, list of cases.
std::set<std::string> part_names(const Dataset& dataset);

}  // namespace voxshard
