// The report of `info` about a folder that `prepare` wrote.
//
//   if (add_prepared_info(path, report)) return true;
#pragma once

#include <nlohmann/json.hpp>

#include "pipelines/engine/requests.h"
#include "pipelines/tasks/segmentation/dataset/prepared_dataset.h"

namespace voxshard {

struct PreparedInfo {
  PreparedDataset dataset;
  nlohmann::ordered_json regions;  // labels of each, by name; null: none
  std::int64_t left_out = 0;       // cases in quarantine.csv
  std::string fingerprint_hash;    // of fingerprint.json
};

/// Adds the description of a folder whose manifest is that of `prepare`, with the next command; false for others.
/// Errors: as read_prepared_info.
bool add_prepared_info(const std::filesystem::path& folder, InfoReport& report);

/// Reads the records of a folder, no voxel. Cases whose files are missing or have changed are added to `failures`.
/// Errors: kInput where `prepare` did not come to its end; as read_prepared.
PreparedInfo read_prepared_info(const std::filesystem::path& folder, std::vector<CaseFailure>& failures);

nlohmann::ordered_json to_json(const PreparedInfo& info);
std::string to_text(const PreparedInfo& info);

}  // namespace voxshard
