// What `prepare` writes about all cases: the list of cases, and where they come from.
//
//   write_json(work / "dataset.json", prepared_listing(dataset, plan, records));
#pragma once

#include <nlohmann/json_fwd.hpp>

#include "io/datasets/dataset.h"
#include "pipelines/tasks/segmentation/dataset/prepare_dataset.h"

namespace voxshard {

/// Returns the dataset.json of a work folder.
///   records  of the cases, as prepare_case() returned them
nlohmann::ordered_json prepared_listing(const Dataset& dataset, const PreparePlan& plan,
                                        const nlohmann::ordered_json& records);

/// Returns the path of the data set for run.json, as the operator gave it: a text, or images and labels.
nlohmann::ordered_json source_of(const PrepareOptions& options);

}  // namespace voxshard
