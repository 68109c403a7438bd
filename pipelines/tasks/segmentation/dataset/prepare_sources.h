// Hashes of the inputs of a preparation: the files of its cases, the options, and the plan that follows from both. They
// are in the manifest of the work folder, from which a later call knows what it may keep.
//
//   const Json sources = source_hashes(dataset.training[i], formats);
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

/// Returns [[name, hash], ...] of the files of a case; null for a file that cannot be read, which is reported when the
/// case is prepared. Files of an anonymous case have numbers for names. What decides about labels beside the files, the
/// classes of structures and those that were annotated, is an entry of its own.
nlohmann::ordered_json source_hashes(const Case& item, const VolumeFormats& formats);

/// Returns warnings about the volumes of a case, from their headers: W_FORMS; none for volumes that cannot be read.
std::vector<CaseFailure> source_warnings(const Case& item, bool resamples_channels, const VolumeFormats& formats);

/// Adds notes, each of which begins with its code, to the warnings about a case.
void add_warnings(const std::string& id, const std::vector<std::string>& notes, std::vector<CaseFailure>& warnings);

/// Returns everything that the plan depends on: an earlier plan holds as long as this is the same.
///   sources  source_hashes() of each training case
nlohmann::ordered_json request_of(const PrepareOptions& options, const Dataset& dataset,
                                  const std::vector<nlohmann::ordered_json>& sources);
/// Returns the plan in the work folder when it was made for the same request, also if a person edited it; else none.
std::optional<PreparePlan> earlier_plan(const std::filesystem::path& work, const nlohmann::ordered_json& request);

/// Returns the folder of the data set and all other folders in which its files lie.
std::vector<std::filesystem::path> inputs_of(const Dataset& dataset);
/// Returns a hash of everything that determines the preparation of a case, except the case itself.
std::string options_hash(const PreparePlan& plan, const PrepareOptions& options);
/// Returns the names of all parts of the work folder: plan, fingerprint, cases, list of cases.
std::set<std::string> part_names(const Dataset& dataset);
/// Returns those of a complete folder in the order in which they are made.
std::vector<std::string> parts_in_order(const std::vector<Case>& cases);

}  // namespace voxshard
