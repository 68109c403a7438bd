// What `prepare` makes of one case: its four files in the work folder.
//
//   const Json record = prepare_case(dataset.training[0], plan, options, progress);
#pragma once

#include <nlohmann/json_fwd.hpp>

#include "io/datasets/dataset.h"
#include "pipelines/tasks/segmentation/dataset/prepare_dataset.h"

namespace voxshard {

/// Returns what dataset.json says of it, which also stands in the last of its files. The image is written and gone
/// before the label is prepared: memory holds one of them. Errors: kInput with a code as in CaseFailure; kOutput;
/// Stopped.
nlohmann::ordered_json prepare_case(const Case& item, const PreparePlan& plan, const PrepareOptions& options,
                                    const Progress& progress);

/// That record, as an earlier call has written it.
nlohmann::ordered_json read_record(const std::filesystem::path& work, const std::string& id);

}  // namespace voxshard
