// Prepares one case: writes its four files in the work folder.
//
//   const Json record = prepare_case(dataset.training[0], plan, options, progress);
#pragma once

#include <nlohmann/json_fwd.hpp>

#include "io/datasets/dataset.h"
#include "pipelines/tasks/segmentation/dataset/prepare_dataset.h"

namespace voxshard {

/// Prepares a case and returns its record for dataset.json, which is also the last of its files. Each channel of the
/// image is written and released before the next one is read, and before the label is prepared. Errors: kInput with a
/// code as in CaseFailure; kOutput; Stopped.
nlohmann::ordered_json prepare_case(const Case& item, const PreparePlan& plan, const PrepareOptions& options,
                                    const Progress& progress);

/// Reads that record as an earlier call wrote it.
nlohmann::ordered_json read_record(const std::filesystem::path& work, const std::string& id);

}  // namespace voxshard
